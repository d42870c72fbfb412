import type { FileUIPart } from 'ai';
import { useState, type ClipboardEvent, type DragEvent } from 'react';

const maxBytes = 20_000_000;

export type Attachments = {
  files: FileUIPart[];
  problem: string | undefined;
  isOver: boolean;
  add: (files: Iterable<File>) => void;
  remove: (index: number) => void;
  clear: () => void;
  /** For the element that files are dropped on, and pasted into. */
  handlers: {
    onDragOver: (event: DragEvent) => void;
    onDragLeave: (event: DragEvent) => void;
    onDrop: (event: DragEvent) => void;
    onPaste: (event: ClipboardEvent) => void;
  };
};

/** Files that go with the next message. They travel inside it, and the server's store keeps their bytes once. */
export function useAttachments(initial: FileUIPart[] = []): Attachments {
  const [files, setFiles] = useState(initial);
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const add = (picked: Iterable<File>): void => {
    const all = [...picked];
    const tooLarge = all.find(({ size }) => size > maxBytes);
    setProblem(tooLarge && `${tooLarge.name} is larger than ${maxBytes / 1e6} MB.`);
    Promise.all(all.filter((file) => file !== tooLarge).map(toPart))
      .then((parts) => setFiles((before) => [...before, ...parts]))
      .catch(() => setProblem('The file could not be read.'));
  };
  return {
    files,
    problem,
    isOver,
    add,
    remove: (index) => setFiles(files.filter((_, place) => place !== index)),
    clear: () => setFiles([]),
    handlers: {
      onDragOver: (event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: (event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      },
      onDrop: (event) => {
        setOver(false);
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        add(event.dataTransfer.files);
      },
      onPaste: (event) => {
        if (event.clipboardData.files.length === 0) return;
        event.preventDefault();
        add(event.clipboardData.files);
      },
    },
  };
}

function toPart(file: File): Promise<FileUIPart> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The file could not be read.')));
    reader.addEventListener('load', () => {
      const mediaType = file.type || 'application/octet-stream';
      // Of a type that the browser does not know, it says so in another way.
      const url = (reader.result as string).replace(/^data:[^;,]*/, `data:${mediaType}`);
      resolve({ type: 'file', mediaType, filename: file.name, url });
    });
    reader.readAsDataURL(file);
  });
}

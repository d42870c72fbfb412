import type { FileUIPart } from 'ai';
import { useCallback, useEffect, useState, type ClipboardEvent, type RefObject } from 'react';
import { admitFiles } from './admit-files.ts';

export type Attachments = {
  files: FileUIPart[];
  problem: string | undefined;
  isOver: boolean;
  add: (files: Iterable<File>) => void;
  remove: (index: number) => void;
  clear: () => void;
  /** For the field that is written in. */
  onPaste: (event: ClipboardEvent) => void;
};

/**
 * Files that go with the next message. They travel inside it, and the server's store keeps their bytes once. They may be dropped
 * anywhere on the chat that the form is in.
 */
export function useAttachments(form: RefObject<HTMLElement | null>, initial: FileUIPart[] = []): Attachments {
  const [files, setFiles] = useState(initial);
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const add = useCallback((picked: Iterable<File>): void => {
    const { taken, problem: left } = admitFiles(picked);
    setProblem(left);
    Promise.all(taken.map(toPart))
      .then((parts) => setFiles((before) => [...before, ...parts]))
      .catch(() => setProblem('The file could not be read.'));
  }, []);

  useEffect(() => {
    const area = form.current?.closest<HTMLElement>('.chat');
    if (area === undefined || area === null) return undefined;
    const onDragOver = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent): void => {
      if (!area.contains(event.relatedTarget as Node | null)) setOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      setOver(false);
      const dropped = event.dataTransfer?.files ?? [];
      if (dropped.length === 0 || event.defaultPrevented) return;
      event.preventDefault();
      add(dropped);
    };
    area.addEventListener('dragover', onDragOver);
    area.addEventListener('dragleave', onDragLeave);
    area.addEventListener('drop', onDrop);
    return () => {
      area.removeEventListener('dragover', onDragOver);
      area.removeEventListener('dragleave', onDragLeave);
      area.removeEventListener('drop', onDrop);
    };
  }, [form, add]);

  return {
    files,
    problem,
    isOver,
    add,
    remove: (index) => setFiles(files.filter((_, place) => place !== index)),
    clear: () => setFiles([]),
    onPaste: (event) => {
      if (event.clipboardData.files.length === 0) return;
      event.preventDefault();
      add(event.clipboardData.files);
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

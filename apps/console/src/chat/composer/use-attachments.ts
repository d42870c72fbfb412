import type { FileUIPart } from 'ai';
import { useCallback, useEffect, useState, type ClipboardEvent, type RefObject } from 'react';
import { checkFileSizes } from './check-file-sizes.ts';

export type Attachments = {
  files: FileUIPart[];
  problem: string | undefined;
  isOver: boolean;
  add: (files: Iterable<File>) => void;
  remove: (index: number) => void;
  clear: () => void;
  /** Handler for the text field. */
  onPaste: (event: ClipboardEvent) => void;
};

/**
 * Files of the next message, as data URLs in its parts. Files can be dropped anywhere on the chat that contains the form.
 */
export function useAttachments(form: RefObject<HTMLElement | null>, initial: FileUIPart[] = []): Attachments {
  const [files, setFiles] = useState(initial);
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const add = useCallback((picked: Iterable<File>): void => {
    const { accepted, problem: rejection } = checkFileSizes(picked);
    setProblem(rejection);
    Promise.all(accepted.map(toPart))
      .then((parts) => setFiles((before) => [...before, ...parts]))
      .catch(() => setProblem('Cannot read the file.'));
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
    remove: (index) => setFiles(files.filter((_, other) => other !== index)),
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
    reader.addEventListener('error', () => reject(reader.error ?? new Error('Cannot read the file.')));
    reader.addEventListener('load', () => {
      const mediaType = file.type || 'application/octet-stream';
      // For unknown types browsers write different media types into the data URL, or none.
      const url = (reader.result as string).replace(/^data:[^;,]*/, `data:${mediaType}`);
      resolve({ type: 'file', mediaType, filename: file.name, url });
    });
    reader.readAsDataURL(file);
  });
}

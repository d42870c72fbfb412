import type { ReactNode } from 'react';

/** What went wrong, said aloud where it did; nothing, if nothing has. */
export function Problem({ text }: { text: string | undefined }): ReactNode {
  if (text === undefined) return undefined;
  return (
    <p className="problem" role="alert">
      {text}
    </p>
  );
}

import type { ReactNode } from 'react';

/** Error message that screen readers announce. Renders nothing without a text. */
export function ErrorMessage({ text }: { text: string | undefined }): ReactNode {
  if (text === undefined) return undefined;
  return (
    <p className="problem" role="alert">
      {text}
    </p>
  );
}

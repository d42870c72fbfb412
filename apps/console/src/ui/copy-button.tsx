import { useState, type ReactNode } from 'react';
import { IconButton } from './button.tsx';

/** Copies a text to the clipboard and confirms it for 1.5 s. */
export function CopyButton({ text, label }: { text: string; label: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <IconButton
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? 'Copied' : label}
      onClick={() => void copy().catch(() => undefined)}
    />
  );
}

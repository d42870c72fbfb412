import { useEffect, useState, type ReactNode } from 'react';
import { IconButton } from '../ui/button.tsx';

/** Copies, and says so for a moment. */
export function CopyButton({ label, text }: { label: string; text: () => string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    void navigator.clipboard.writeText(text()).then(() => setCopied(true));
  };
  return <IconButton icon={isCopied ? 'check' : 'copy'} label={isCopied ? 'Copied' : label} onClick={copy} />;
}

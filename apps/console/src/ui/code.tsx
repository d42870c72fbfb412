import './code.css';
import { useEffect, useState, type ReactNode } from 'react';

/** Larger code is shown without colors: its tokens would be ten thousands of elements. */
const maxLength = 30_000;
/** Code that streams is colored when it has not changed for this time. */
const settleMs = 120;

/** Code with colored tokens. The highlighter is loaded with the first code, which is shown as plain text until then. */
export function Code({ text, language }: { text: string; language: string | undefined }): ReactNode {
  const [colored, setColored] = useState<{ text: string; nodes: ReactNode }>();
  useEffect(() => {
    if (language === undefined || text.length > maxLength) return undefined;
    let isCurrent = true;
    const timer = setTimeout(() => {
      import('./highlight.ts').then(
        ({ highlight }) => isCurrent && setColored({ text, nodes: highlight(text, language) }),
        // Without the highlighter, the code stays plain.
        () => undefined,
      );
    }, settleMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, language]);
  return <code className="code">{colored?.text === text ? colored.nodes : text}</code>;
}

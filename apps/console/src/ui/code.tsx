import './code.css';
import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';

/** Larger code is shown without colors: its tokens would be ten thousands of elements. */
const maxLength = 30_000;
/** Code that streams is colored when it has not changed for this time. */
const settleMs = 120;

/** Code with colored tokens. It is colored when it is visible; the highlighter is loaded with the first visible code. */
export function Code({ text, language }: { text: string; language: string | undefined }): ReactNode {
  const [colored, setColored] = useState<{ text: string; nodes: ReactNode }>();
  const element = useRef<HTMLElement>(null);
  const isVisible = useHasBeenVisible(element);
  useEffect(() => {
    if (!isVisible || language === undefined || text.length > maxLength) return undefined;
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
  }, [isVisible, text, language]);
  return (
    <code ref={element} className="code">
      {colored?.text === text ? colored.nodes : text}
    </code>
  );
}

function useHasBeenVisible(element: RefObject<HTMLElement | null>): boolean {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    if (isVisible || element.current === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setVisible(true);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isVisible]);
  return isVisible;
}

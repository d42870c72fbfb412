import { useState, type ReactNode } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { Markdown } from './markdown.tsx';

/** Reasoning of a model. Open while it streams and closed afterwards, unless the user toggles it. */
export function Reasoning({ text, isStreaming }: { text: string; isStreaming: boolean }): ReactNode {
  const [isOpen, setOpen] = useState<boolean>();
  return (
    <details className="reasoning fold" open={isOpen ?? isStreaming}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          setOpen(!(isOpen ?? isStreaming));
        }}
      >
        <Icon name="chevron" />
        {isStreaming ? <span className="shimmer">Thinking…</span> : 'Thought'}
      </summary>
      <div className="thought">
        <Markdown text={text} isStreaming={isStreaming} />
      </div>
    </details>
  );
}

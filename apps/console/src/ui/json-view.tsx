import { lazy, memo, Suspense, type ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import { longTextLength } from './long-text-lines.ts';

const LongText = lazy(() => import('./long-text.tsx'));

/** Shows a value as highlighted JSON. A string is shown without quotes, and a large value with a search. */
export const JsonView = memo(function Json({ label, value }: { label: string; value: unknown }): ReactNode {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? 'undefined');
  return (
    <div className="json">
      <div className="json-head">
        <span>{label}</span>
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
      {text.length > longTextLength ? (
        <Suspense fallback={<p className="empty">Loading…</p>}>
          <LongText text={text} label={label} />
        </Suspense>
      ) : (
        <pre tabIndex={0}>{typeof value === 'string' ? text : highlight(text)}</pre>
      )}
    </div>
  );
});

const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function highlight(text: string): ReactNode[] {
  const nodes: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    const [whole, string, colon, word] = match;
    if (match.index > end) nodes.push(text.slice(end, match.index));
    const kind =
      string === undefined ? (word === undefined ? 'number' : 'word') : colon === undefined ? 'string' : 'key';
    nodes.push(
      <span key={match.index} className={`json-${kind}`}>
        {string ?? whole}
      </span>,
    );
    if (colon !== undefined) nodes.push(colon);
    end = match.index + whole.length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

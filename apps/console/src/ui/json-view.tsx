import { memo, type ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** Shows a value as highlighted JSON. A string is shown without quotes. */
export const JsonView = memo(function Json({ label, value }: { label: string; value: unknown }): ReactNode {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? 'undefined');
  return (
    <div className="json">
      <div className="json-head">
        <span>{label}</span>
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
      <pre tabIndex={0}>{typeof value === 'string' || text.length > 20_000 ? text : highlight(text)}</pre>
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

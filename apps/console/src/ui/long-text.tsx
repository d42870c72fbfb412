import './long-text.css';
import { useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { findMatches, toLines } from './long-text-lines.ts';
import { rowHeight, useRowWindow } from './use-row-window.ts';

/** Text of many lines, of which only the visible ones are rendered, with a search. */
export default function LongText({ text, label }: { text: string; label: string }): ReactNode {
  const lines = useMemo(() => toLines(text), [text]);
  const [query, setQuery] = useState('');
  const [current, setCurrent] = useState(0);
  const matches = useMemo(() => findMatches(lines, query), [lines, query]);
  const scroller = useRef<HTMLDivElement>(null);
  const { first, last, onScroll, reveal } = useRowWindow(scroller, lines.length, false);
  const show = (index: number, found = matches): void => {
    if (found.length === 0) return;
    const next = (index + found.length) % found.length;
    setCurrent(next);
    reveal(found[next]!);
  };
  const search = (next: string): void => {
    setQuery(next);
    show(0, findMatches(lines, next));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    show(current + (event.shiftKey ? -1 : 1));
  };
  const width = useMemo(() => lines.reduce((longest, line) => Math.max(longest, line.length), 0), [lines]);
  return (
    <div className="long-text">
      <div className="long-text-bar">
        <input
          className="field"
          type="search"
          placeholder={`Search ${lines.length.toLocaleString('en')} lines`}
          aria-label={`Search ${label.toLowerCase()}`}
          value={query}
          onChange={(event) => search(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <span role="status">
          {query !== '' && (matches.length === 0 ? 'No match' : `Line ${current + 1} of ${matches.length}`)}
        </span>
      </div>
      <div ref={scroller} className="long-text-lines" tabIndex={0} role="group" aria-label={label} onScroll={onScroll}>
        <div style={{ height: lines.length * rowHeight, minWidth: `${width}ch` }}>
          {lines.slice(first, last).map((line, index) => {
            const row = first + index;
            return (
              <div
                key={row}
                className="long-text-line"
                data-current={(query !== '' && matches[current] === row) || undefined}
                style={{ top: row * rowHeight }}
              >
                {highlight(line, query)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function highlight(line: string, query: string): ReactNode {
  if (query === '') return line;
  const nodes: ReactNode[] = [];
  const lower = line.toLowerCase();
  let end = 0;
  for (let at = lower.indexOf(query.toLowerCase()); at !== -1; at = lower.indexOf(query.toLowerCase(), end)) {
    nodes.push(line.slice(end, at), <mark key={at}>{line.slice(at, at + query.length)}</mark>);
    end = at + query.length;
  }
  return [...nodes, line.slice(end)];
}

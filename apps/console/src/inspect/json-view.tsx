import { useMemo, type ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import { jsonTokens } from './json-tokens.ts';

/** Above this, colour costs more than it gives. */
const plainAbove = 40_000;

/** A value as JSON, with a name and a way to copy it. */
export function JsonView({ label, value, note }: { label: string; value: unknown; note?: string }): ReactNode {
  const tokens = useMemo(() => jsonTokens(value), [value]);
  const length = tokens.reduce((sum, { text }) => sum + text.length, 0);
  return (
    <section className="json-view" aria-label={label}>
      <header>
        <h3>{label}</h3>
        {note !== undefined && <span className="note">{note}</span>}
        <CopyButton label={`Copy ${label}`} text={() => JSON.stringify(value, undefined, 2)} />
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by the keyboard */}
      <pre tabIndex={0}>
        {length > plainAbove
          ? tokens.map(({ text }) => text).join('')
          : tokens.map(({ kind, text }, index) =>
              kind === 'mark' ? (
                text
              ) : (
                <span key={index} className={kind}>
                  {text}
                </span>
              ),
            )}
      </pre>
    </section>
  );
}

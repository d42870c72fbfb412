import type { CSSProperties, ReactNode } from 'react';
import { agentColor } from '../agent-color.ts';
import { Icon } from '../ui/icon.tsx';
import { partKey, PartView } from './part-view.tsx';
import type { Turn } from './turns.ts';

/** What one agent says in a row, under its name and in its colour. */
export function TurnView({ turn, isLive }: { turn: Turn; isLive: boolean }): ReactNode {
  const { speaker, to, internal, parts } = turn;
  const style = speaker && ({ '--agent': agentColor(speaker.name) } as CSSProperties);
  return (
    <section className="turn" style={style} data-internal={internal || undefined}>
      {speaker && (
        <h2 className="speaker">
          <span className="name">{speaker.name}</span>
          {to.length > 0 && (
            <span className="to">
              <Icon name="chevron" size={12} />
              {to.join(', ')}
            </span>
          )}
          {internal && <span className="tag">internal</span>}
          {speaker.outcome === 'error' && <span className="tag bad">{speaker.error?.message ?? 'failed'}</span>}
        </h2>
      )}
      {parts.map((part, index) => (
        <PartView key={partKey(part, index)} part={part} isLive={isLive} />
      ))}
    </section>
  );
}

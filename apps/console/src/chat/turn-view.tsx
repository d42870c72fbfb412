import { memo, type CSSProperties, type ReactNode } from 'react';
import { Icon } from '../ui/icon.tsx';
import { useAgentColor } from '../use-agent-color.ts';
import { partKey, PartView } from './part-view.tsx';
import { shallowEqual } from './shallow-equal.ts';
import type { Turn } from './turns.ts';

type TurnViewProps = { turn: Turn; isLive: boolean };

/** What one agent says in a row, under its name and in its colour. It is drawn again only if something of it changes. */
export const TurnView = memo(
  function TurnView({ turn, isLive }: TurnViewProps): ReactNode {
    const { speaker, to, internal, parts } = turn;
    const colorOf = useAgentColor();
    const style = speaker && ({ '--agent': colorOf(speaker.name) } as CSSProperties);
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
  },
  (before, after) => before.isLive === after.isLive && isSameTurn(before.turn, after.turn),
);

function isSameTurn(before: Turn, after: Turn): boolean {
  return (
    before.parts.length === after.parts.length &&
    shallowEqual(before.speaker, after.speaker) &&
    before.internal === after.internal &&
    before.to.join() === after.to.join() &&
    before.parts.every((part, index) => shallowEqual(part, after.parts[index]))
  );
}

import { memo, type CSSProperties, type ReactNode } from 'react';
import { Icon } from '../../ui/icon.tsx';
import { useAgentColor } from '../../agents/use-agent-color.ts';
import { getPartKey, PartView } from './part-view.tsx';
import { shallowEqual } from './shallow-equal.ts';
import type { AgentSegment } from './message-content.ts';

type AgentSegmentViewProps = { segment: AgentSegment; isLive: boolean };

/** Consecutive parts of one agent, under its name and in its color. Renders again only if one of them changes. */
export const AgentSegmentView = memo(
  function AgentSegmentView({ segment, isLive }: AgentSegmentViewProps): ReactNode {
    const { speaker, to, internal, parts } = segment;
    const getColor = useAgentColor();
    const style = speaker && ({ '--agent': getColor(speaker.name) } as CSSProperties);
    return (
      <section className="segment" style={style} data-internal={internal || undefined}>
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
          <PartView key={getPartKey(part, index)} part={part} isLive={isLive} />
        ))}
      </section>
    );
  },
  (before, after) => before.isLive === after.isLive && isSameSegment(before.segment, after.segment),
);

function isSameSegment(before: AgentSegment, after: AgentSegment): boolean {
  return (
    before.parts.length === after.parts.length &&
    shallowEqual(before.speaker, after.speaker) &&
    before.internal === after.internal &&
    before.to.join() === after.to.join() &&
    before.parts.every((part, index) => shallowEqual(part, after.parts[index]))
  );
}

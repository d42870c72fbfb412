import './inspect.css';
import './timeline/timeline.css';
import { useMemo, useRef, useState, type CSSProperties, type KeyboardEvent, type ReactNode } from 'react';
import type { PaneProps, RunEvents } from '../inspect-types.ts';
import { useAgentColor } from '../use-agent-color.ts';
import { formatDuration, ticksOf } from './timeline/time-scale.ts';
import { TimelineFold, type Span, type Timeline } from './timeline/timeline.ts';
import { useFold } from './use-fold.ts';
import { usePaneKeys } from './use-pane-keys.ts';

/** While a run goes on, all of it moves with every drawing. */
const drawnMs = 200;

const createTimeline = (run: RunEvents): TimelineFold => new TimelineFold((index) => run.snapshot().frames[index]?.at);

/** When what happened: run, agents, steps and tools, the first word of each, the silences, and what it cost. */
export function TimelinePane({ events, selection, onSelect }: PaneProps): ReactNode {
  const view = useFold(events, createTimeline, drawnMs);
  const timeline = useMemo(() => view.fold.take(), [view]);
  const { spans } = timeline;
  const [active, setActive] = useState<string>();
  const rows = useRef<HTMLDivElement>(null);

  const select = (span: Span): void => {
    setActive(span.id);
    const entry = view.run.entries[span.event];
    if (entry) onSelect({ type: 'event', id: entry.id });
  };
  const move = (by: number): void => {
    const at = spans.findIndex(({ id }) => id === active);
    const next = spans[Math.max(0, Math.min(spans.length - 1, at === -1 && by < 0 ? spans.length - 1 : at + by))];
    if (!next) return;
    setActive(next.id);
    rows.current?.querySelector<HTMLElement>(`[data-span=${JSON.stringify(next.id)}]`)?.focus();
  };
  usePaneKeys({ j: () => move(1), k: () => move(-1), Escape: () => (setActive(undefined), onSelect(undefined)) });
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(by);
  };

  if (spans.length === 0) return <p className="empty">There is no run yet.</p>;
  const selectedEvent = selection?.type === 'event' ? view.run.entries.findIndex(({ id }) => id === selection.id) : -1;
  return (
    <div className="timeline" tabIndex={-1} data-tokens={spans.some(({ usage }) => usage?.outputTokens) || undefined}>
      <Axis timeline={timeline} />
      <div ref={rows} className="timeline-rows" role="list" aria-label="Spans of the run" onKeyDown={onKeyDown}>
        <Gaps timeline={timeline} />
        {spans.map((span) => (
          <SpanRow
            key={span.id}
            span={span}
            timeline={timeline}
            isActive={span.id === active || span.event === selectedEvent}
            onFocus={() => setActive(span.id)}
            onSelect={() => select(span)}
          />
        ))}
      </div>
      <Facts timeline={timeline} />
    </div>
  );
}

function SpanRow(props: {
  span: Span;
  timeline: Timeline;
  isActive: boolean;
  onFocus: () => void;
  onSelect: () => void;
}): ReactNode {
  const { span, timeline, isActive, onFocus, onSelect } = props;
  const color = getColor(span, useAgentColor());
  const end = span.end ?? timeline.end;
  const duration = formatDuration(end - span.start);
  const wait = span.firstWord === undefined ? undefined : span.firstWord - span.start;
  const tokens = span.usage?.outputTokens;
  const said = [
    `${span.kind} ${span.label}`,
    span.end === undefined ? `${duration} so far` : duration,
    wait !== undefined && `first word after ${formatDuration(wait)}`,
    tokens !== undefined && `${tokens} tokens out`,
    span.outcome,
  ].filter(Boolean);
  return (
    <div role="listitem">
      <button
        type="button"
        className="span-row"
        data-span={span.id}
        data-active={isActive || undefined}
        title={said.join('\n')}
        onFocus={onFocus}
        onClick={onSelect}
      >
        <span className="label" style={{ paddingLeft: 8 + span.depth * 12 }}>
          <i style={{ background: color }} />
          <span className="hidden-text">{span.kind} </span>
          {span.label}
        </span>
        <span className="track">
          <span
            className="span-bar"
            data-kind={span.kind}
            data-outcome={span.outcome}
            data-open={span.end === undefined || undefined}
            style={{ ...placeOf(timeline, span.start, end), ['--color' as string]: color }}
          >
            {wait !== undefined && wait > 0 && span.kind !== 'agent' && (
              <span className="until" style={{ width: `${(100 * wait) / Math.max(1, end - span.start)}%` }} />
            )}
          </span>
        </span>
        <span className="duration">{duration}</span>
        <span className="tokens">{tokens !== undefined && `${tokens} tok`}</span>
        <span className="hidden-text">{said.slice(2).join(', ')}</span>
      </button>
    </div>
  );
}

function Axis({ timeline: { start, end } }: { timeline: Timeline }): ReactNode {
  return (
    <div className="timeline-axis" aria-hidden="true">
      <span className="label" />
      <span className="track">
        {ticksOf(end - start).map((tick) => (
          <span key={tick} className="tick" style={{ left: `${shareOf(tick, end - start)}%` }}>
            {formatDuration(tick)}
          </span>
        ))}
      </span>
      <span className="duration" />
      <span className="tokens" />
    </div>
  );
}

function Gaps({ timeline }: { timeline: Timeline }): ReactNode {
  return (
    <div className="timeline-gaps" aria-hidden="true">
      <span className="track">
        {ticksOf(timeline.end - timeline.start).map((tick) => (
          <span key={tick} className="grid" style={{ left: `${shareOf(tick, timeline.end - timeline.start)}%` }} />
        ))}
        {timeline.gaps.map(({ start, end }) => (
          <span key={start} className="gap" style={placeOf(timeline, start, end)} />
        ))}
      </span>
    </div>
  );
}

function Facts({ timeline }: { timeline: Timeline }): ReactNode {
  const [run] = timeline.spans;
  const silence = timeline.gaps.reduce((sum, { start, end }) => sum + end - start, 0);
  const steps = timeline.spans.filter(({ kind, usage }) => kind === 'step' && usage !== undefined);
  const tokens = run?.usage?.outputTokens ?? steps.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0);
  return (
    <footer className="timeline-facts">
      <span>
        <b>{formatDuration(timeline.end - timeline.start)}</b> in all
      </span>
      {run?.firstWord !== undefined && (
        <span>
          <b>{formatDuration(run.firstWord - run.start)}</b> to the first token
        </span>
      )}
      {silence > 0 && (
        <span>
          <b>{formatDuration(silence)}</b> of silence in {timeline.gaps.length}
        </span>
      )}
      {tokens > 0 && (
        <span>
          <b>{tokens}</b> tokens out
        </span>
      )}
    </footer>
  );
}

const getColor = ({ kind, agent, outcome }: Span, agentColor: (name: string) => string): string => {
  if (outcome === 'error') return 'var(--bad)';
  if (kind === 'tool') return 'var(--family-tool)';
  if (kind === 'wait') return 'var(--family-people)';
  return agent === undefined ? 'var(--ink-faint)' : agentColor(agent);
};

const shareOf = (part: number, whole: number): number => (whole > 0 ? (100 * part) / whole : 0);

function placeOf({ start, end }: Timeline, from: number, to: number): CSSProperties {
  return { left: `${shareOf(from - start, end - start)}%`, width: `${shareOf(to - from, end - start)}%` };
}

import './inspect.css';
import './timeline/timeline.css';
import { useMemo, useRef, useState, type CSSProperties, type KeyboardEvent, type ReactNode } from 'react';
import type { PaneProps, RunEvents } from '../inspect-types.ts';
import { useAgentColor } from '../agents/use-agent-color.ts';
import { formatDuration, computeTicks } from './timeline/time-scale.ts';
import { TimelineFold, type Span, type Timeline } from './timeline/timeline.ts';
import { useFold } from './use-fold.ts';
import { usePaneKeys } from './use-pane-keys.ts';

/** Slower than other panes: while a run is live, every span moves with every render. */
const renderIntervalMs = 200;

const createTimeline = (run: RunEvents): TimelineFold => new TimelineFold((index) => run.snapshot().frames[index]?.at);

/** Run, agents, steps and tools on a time axis, with time to first output, gaps and token usage. */
export function TimelinePane({ events, selection, onSelect }: PaneProps): ReactNode {
  const view = useFold(events, createTimeline, renderIntervalMs);
  const timeline = useMemo(() => view.fold.snapshot(), [view]);
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

  if (spans.length === 0) return <p className="empty">No run yet. Send a message to start one.</p>;
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
      <Facts timeline={timeline} reconnects={view.run.reconnects} />
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
  const wait = span.firstOutput === undefined ? undefined : span.firstOutput - span.start;
  const tokens = span.usage?.outputTokens;
  const facts = [
    `${span.kind} ${span.label}`,
    span.end === undefined ? `${duration} so far` : duration,
    wait !== undefined && `first output after ${formatDuration(wait)}`,
    tokens !== undefined && `${tokens} output tokens`,
    span.outcome,
  ].filter(Boolean);
  return (
    <div role="listitem">
      <button
        type="button"
        className="span-row"
        data-span={span.id}
        data-active={isActive || undefined}
        title={facts.join('\n')}
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
            style={{ ...getPosition(timeline, span.start, end), ['--color' as string]: color }}
          >
            {wait !== undefined && wait > 0 && span.kind !== 'agent' && (
              <span className="until" style={{ width: `${(100 * wait) / Math.max(1, end - span.start)}%` }} />
            )}
          </span>
        </span>
        <span className="duration">{duration}</span>
        <span className="tokens">{tokens !== undefined && `${tokens} tok`}</span>
        <span className="hidden-text">{facts.slice(2).join(', ')}</span>
      </button>
    </div>
  );
}

function Axis({ timeline: { start, end } }: { timeline: Timeline }): ReactNode {
  return (
    <div className="timeline-axis" aria-hidden="true">
      <span className="label" />
      <span className="track">
        {computeTicks(end - start).map((tick) => (
          <span key={tick} className="tick" style={{ left: `${toPercent(tick, end - start)}%` }}>
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
        {computeTicks(timeline.end - timeline.start).map((tick) => (
          <span key={tick} className="grid" style={{ left: `${toPercent(tick, timeline.end - timeline.start)}%` }} />
        ))}
        {timeline.gaps.map(({ start, end }) => (
          <span key={start} className="gap" style={getPosition(timeline, start, end)} />
        ))}
      </span>
    </div>
  );
}

function Facts({ timeline, reconnects }: { timeline: Timeline; reconnects: number }): ReactNode {
  const [run] = timeline.spans;
  const silence = timeline.gaps.reduce((sum, { start, end }) => sum + end - start, 0);
  const recoveries = timeline.spans.filter(({ kind }) => kind === 'recovery').length;
  const steps = timeline.spans.filter(({ kind, usage }) => kind === 'step' && usage !== undefined);
  const tokens = run?.usage?.outputTokens ?? steps.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0);
  return (
    <footer className="timeline-facts">
      <span>
        <b>{formatDuration(timeline.end - timeline.start)}</b> total
      </span>
      {run?.firstOutput !== undefined && (
        <span>
          <b>{formatDuration(run.firstOutput - run.start)}</b> to first output
        </span>
      )}
      {silence > 0 && (
        <span>
          <b>{formatDuration(silence)}</b> idle in {timeline.gaps.length} {timeline.gaps.length === 1 ? 'gap' : 'gaps'}
        </span>
      )}
      {tokens > 0 && (
        <span>
          <b>{tokens}</b> output tokens
        </span>
      )}
      {recoveries > 0 && (
        <span title="The process that executed the run stopped, and another process continued it">
          <b>{recoveries}</b> {recoveries === 1 ? 'change' : 'changes'} of process
        </span>
      )}
      {reconnects > 0 && (
        <span title="The connection of this page broke, and it continued at its last event">
          <b>{reconnects}</b> {reconnects === 1 ? 'reconnect' : 'reconnects'}
        </span>
      )}
    </footer>
  );
}

const getColor = ({ kind, agent, outcome }: Span, agentColor: (name: string) => string): string => {
  if (outcome === 'error') return 'var(--bad)';
  if (kind === 'tool') return 'var(--family-tool)';
  if (kind === 'wait') return 'var(--family-people)';
  if (kind === 'recovery') return 'var(--warn)';
  return agent === undefined ? 'var(--ink-faint)' : agentColor(agent);
};

const toPercent = (part: number, whole: number): number => (whole > 0 ? (100 * part) / whole : 0);

function getPosition({ start, end }: Timeline, from: number, to: number): CSSProperties {
  return { left: `${toPercent(from - start, end - start)}%`, width: `${toPercent(to - from, end - start)}%` };
}

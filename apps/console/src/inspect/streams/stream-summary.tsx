import type { ReactNode } from 'react';
import { Chip } from '../chip.tsx';
import type { StreamView } from './stream-store.ts';

type Status = StreamView['run']['status'] | 'waiting' | 'stopped' | 'error';

const statusLabels: { readonly [Name in Status]: string } = {
  idle: 'no run',
  loading: 'loading',
  live: 'live',
  ended: 'complete',
  waiting: 'waiting for you',
  stopped: 'stopped',
  error: 'failed',
  dropped: 'log deleted',
  failed: 'unreachable',
};

/** Footer with the run's status, event count, violations and losses. */
export function StreamSummary(props: {
  view: StreamView;
  shown: number;
  onViolation: () => void;
  onLosses: () => void;
  isLossReportOpen: boolean;
  isFollowing: boolean;
  onFollow: (follow: boolean) => void;
}): ReactNode {
  const { view, shown, onViolation, onLosses, isLossReportOpen, isFollowing, onFollow } = props;
  const { table, run, rate } = view;
  const status = getStatus(view);
  const violations = table.violations.event.length + table.violations.target.length;
  return (
    <footer className="stream-summary" aria-label="Summary">
      <span className="status" data-status={status}>
        {statusLabels[status]}
      </span>
      <Chip isOn={isFollowing} title="Scroll with the run as it grows (f)" onToggle={() => onFollow(!isFollowing)}>
        follow
      </Chip>
      <span>{formatCount(table.events.length, 'event')}</span>
      {run.status === 'live' && rate > 0 && (
        <span className="rate">{rate < 10 ? rate.toFixed(1) : Math.round(rate)}/s</span>
      )}
      {shown < table.length && <span className="shown">{shown} rows shown</span>}
      {run.reconnects > 0 && (
        <span title="The connection of this page broke, and it continued after its last event">
          {formatCount(run.reconnects, 'reconnect')}
        </span>
      )}
      {table.recoveries > 0 && (
        <span title="Another process has continued the run">
          {formatCount(table.recoveries, 'recovery', 'recoveries')}
        </span>
      )}
      <span className="grow" />
      {violations === 0 ? (
        <span
          className="fine"
          title="Every event follows the rules of its protocol, such as: a text starts before it grows"
        >
          {table.events.length > 0 && 'no protocol errors'}
        </span>
      ) : (
        <button
          type="button"
          className="link bad"
          title="Events that break a rule of their protocol. Go to the next one (n)"
          onClick={onViolation}
        >
          {formatCount(violations, 'protocol error')}
        </button>
      )}
      <button
        type="button"
        className="link"
        title="What clients of this protocol do not receive, or receive changed, with the reasons"
        aria-expanded={isLossReportOpen}
        onClick={onLosses}
      >
        {table.losses.length} left out
      </button>
    </footer>
  );
}

/** Returns the state of the run, including how it ended and whether it waits for a person. */
function getStatus({ run, table }: StreamView): Status {
  if (run.status === 'live') return table.hasOpenQuestion ? 'waiting' : 'live';
  const last = run.entries.at(-1)?.event;
  if (run.status !== 'ended' || last?.type !== 'run-end') return run.status;
  if (last.outcome === 'paused') return 'waiting';
  if (last.outcome === 'error') return 'error';
  return last.outcome === 'aborted' ? 'stopped' : 'ended';
}

const formatCount = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

import './inspect.css';
import './tape/tape.css';
import { use, useEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { PaneProps, RunEvents, RunSnapshot } from '../inspect-types.ts';
import { RunCursor } from '../run/run-cursor.ts';
import { ServerListsContext } from '../server-lists.ts';
import { IconButton } from '../ui/button.tsx';
import { describeItem } from './describe-item.ts';
import { TapeMessage } from './tape/tape-message.tsx';
import { TapeActions } from './tape/tape-actions.tsx';
import { createTape } from './tape/create-tape.ts';
import { speeds, usePlayer, type Speed } from './tape/tape-player.ts';
import { useTapeFiles } from './tape/use-tape-files.ts';
import { formatDuration } from './timeline/time-scale.ts';
import { throttleSubscribe } from './throttle-subscribe.ts';
import { usePaneKeys } from './use-pane-keys.ts';

/** Player for the run: shows the message after any number of events. */
export function TapePane({ threadId, agent, events, onSelect, onScrub, onTape }: PaneProps): ReactNode {
  const run = useRun(events);
  const [runCursor] = useState(() => new RunCursor());
  runCursor.setEntries(run.entries);
  const [isTape, open] = useOpenedTape(events, onTape);
  const files = useTapeFiles(open);
  const count = run.entries.length;
  // Undefined: follow the end of the run.
  const [position, setPosition] = useState<number>();
  const cursor = Math.min(position ?? count, count);
  const times = useMemo(() => createTape(run).items.map(({ t }) => t), [run]);
  const message = runCursor.messageAt(cursor);

  const goTo = (to: number): void => {
    const next = Math.max(0, Math.min(count, to));
    setPosition(next);
    onScrub(next);
    const entry = run.entries[next - 1];
    onSelect(entry && { type: 'event', id: entry.id });
  };
  const release = (): void => {
    setPosition(undefined);
    onScrub(undefined);
    onSelect(undefined);
  };
  useEffect(() => {
    setPosition(undefined);
    return () => onScrub(undefined);
  }, [onScrub, events]);

  const player = usePlayer(times, cursor, goTo);
  const play = (): void => {
    if (!player.isPlaying && cursor >= count) goTo(0);
    player.setPlaying(!player.isPlaying);
  };
  const step = (by: number): void => {
    player.setPlaying(false);
    goTo(cursor + by);
  };
  usePaneKeys({
    j: () => step(1),
    k: () => step(-1),
    J: () => step(10),
    K: () => step(-10),
    ' ': play,
    f: release,
    Home: () => step(-count),
    End: () => step(count),
  });

  const { items } = use(ServerListsContext);
  const event = run.entries[cursor - 1]?.event;
  const described = event && describeItem(event, items);
  const length = times.at(-1) ?? 0;
  return (
    <div
      className="tape"
      tabIndex={-1}
      onDragOver={(drag) => drag.preventDefault()}
      onDrop={(drop) => {
        drop.preventDefault();
        files.open(drop.dataTransfer.files[0]);
      }}
    >
      <section className="tape-deck" aria-label="Player">
        <div className="line">
          <IconButton
            icon={player.isPlaying ? 'pause' : 'play'}
            label={player.isPlaying ? 'Pause' : 'Play'}
            keys="space"
            disabled={count === 0}
            onClick={play}
          />
          <IconButton icon="back" label="One event back" keys="k" disabled={cursor === 0} onClick={() => step(-1)} />
          <IconButton
            icon="chevron"
            label="One event forward"
            keys="j"
            disabled={cursor === count}
            onClick={() => step(1)}
          />
          <input
            type="range"
            aria-label="Event"
            aria-valuetext={`Event ${cursor} of ${count}${described ? `, ${described.type}` : ''}`}
            min={0}
            max={count}
            value={cursor}
            disabled={count === 0}
            onChange={(change) => {
              player.setPlaying(false);
              goTo(Number(change.target.value));
            }}
          />
          <select
            className="field"
            aria-label="Speed"
            value={player.speed}
            onChange={(change) => player.setSpeed(Number(change.target.value) as Speed)}
          >
            {speeds.map((speed) => (
              <option key={speed} value={speed}>
                {speed}×
              </option>
            ))}
          </select>
        </div>
        <div className="line facts">
          <span className="place">
            {cursor} / {count}
          </span>
          <span className="time">
            {formatDuration(times[cursor - 1] ?? 0)} of {formatDuration(length)}
          </span>
          {described && (
            <span className="event">
              <b data-family={described.family}>{described.type}</b> {described.text}
            </span>
          )}
          <span className="grow" />
          {position !== undefined && (
            <button type="button" className="link" onClick={release}>
              {run.status === 'live' ? 'Follow the run' : 'Go to the end'}
            </button>
          )}
        </div>
      </section>
      {/* Focusable, since a scrollable region must be reachable by keyboard. */}
      <div className="tape-screen" role="region" aria-label="Message so far" tabIndex={0}>
        <TapeMessage message={message} isEmpty={count === 0} />
      </div>
      <TapeActions
        run={run}
        isTape={isTape}
        threadId={threadId}
        agent={agent}
        files={files}
        onBack={() => open(undefined)}
      />
    </div>
  );
}

/** Stores that contain a tape. Module state, since the pane is unmounted while another one is shown. */
const tapes = new WeakSet<RunEvents>();

/** Returns whether a tape is shown, and a function that opens one. */
function useOpenedTape(events: RunEvents, onTape: PaneProps['onTape']): [isTape: boolean, open: PaneProps['onTape']] {
  const isOpening = useRef(false);
  const isTape = useMemo(() => {
    if (isOpening.current) tapes.add(events);
    isOpening.current = false;
    return tapes.has(events);
  }, [events]);
  const open: PaneProps['onTape'] = (tape) => {
    isOpening.current = tape !== undefined;
    onTape(tape);
  };
  return [isTape, open];
}

/** Slower than other panes: while a run is live, only its length changes here. */
const renderIntervalMs = 200;

function useRun(events: RunEvents): RunSnapshot {
  const subscribe = useMemo(() => throttleSubscribe(events.subscribe, renderIntervalMs), [events]);
  return useSyncExternalStore(subscribe, events.snapshot);
}

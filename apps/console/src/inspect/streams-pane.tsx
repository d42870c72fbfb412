import './inspect.css';
import './streams/streams.css';
import { useDeferredValue, useEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { PaneProps, Selection } from '../inspect-types.ts';
import { useStoredSetting } from '../shell/use-stored-setting.ts';
import { LossLedger } from './streams/loss-ledger.tsx';
import { everything, FilteredRows, type RowFilter } from './streams/row-filter.ts';
import { nextViolation } from './streams/stream-cells.ts';
import { StreamDetails } from './streams/stream-details.tsx';
import { StreamFeed } from './streams/stream-feed.ts';
import { StreamGrid } from './streams/stream-grid.tsx';
import { StreamSummary } from './streams/stream-summary.tsx';
import type { Cell } from './streams/stream-table.ts';
import { StreamToolbar } from './streams/stream-toolbar.tsx';
import { loadTarget, targetLabels, type Target, type TargetId } from './streams/target.ts';
import { useFollow } from './streams/use-follow.ts';
import { usePaneKeys } from './use-pane-keys.ts';
import { useRoom } from './use-room.ts';

/** A run as its source said it, as it was understood, and as a front end is told it: cause by cause, as it happens. */
export function StreamsPane(props: PaneProps): ReactNode {
  const [targetId, setTargetId] = useStoredSetting<TargetId>('streams-target', 'ui-6');
  const [target, setTarget] = useState<Target>();
  useEffect(() => {
    let isCurrent = true;
    void loadTarget(targetId).then((loaded) => isCurrent && setTarget(loaded));
    return () => void (isCurrent = false);
  }, [targetId]);
  if (!target) return <p className="empty">Loading…</p>;
  return <Streams {...props} target={target} targetId={targetId} onTarget={setTargetId} />;
}

function Streams(
  props: PaneProps & { target: Target; targetId: TargetId; onTarget: (id: TargetId) => void },
): ReactNode {
  const { events, selection, onSelect, target, targetId, onTarget } = props;
  const [internal, setInternal] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  // A phone has room for two columns; the frame is then in the details of its event.
  const isNarrow = useRoom(root).width < 430;
  const feed = useMemo(
    () => new StreamFeed(events, target, { internal, frames: !isNarrow }),
    [events, target, internal, isNarrow],
  );
  const view = useSyncExternalStore(feed.subscribe, feed.snapshot);
  const { table, run } = view;

  const [filter, setFilter] = useState<RowFilter>(everything);
  const sought = useDeferredValue(filter);
  const frames = useRef(run.frames);
  frames.current = run.frames;
  const rows = useMemo(() => new FilteredRows(table, sought, (index) => frames.current[index]?.frame), [table, sought]);
  rows.catchUp();

  const [active, setActive] = useState<Cell>();
  const [panel, setPanel] = useState<'details' | 'ledger'>();
  // Another run has other rows.
  useEffect(() => {
    setActive(undefined);
    setPanel((before) => (before === 'details' ? undefined : before));
  }, [events]);
  useSelection(selection, (chosen) => {
    if (chosen.type === 'agent') setFilter((before) => ({ ...before, agent: chosen.name }));
    const cell = cellOfSelection(chosen, view);
    if (cell) setActive(cell);
  });
  const open = (cell: Cell): void => {
    setActive(cell);
    setPanel('details');
    const entry = run.entries[cell.column === 'event' ? cell.index : table.relativesOf(cell).events[0]];
    if (cell.column === 'frame') onSelect({ type: 'frame', index: cell.index });
    else if (entry) onSelect({ type: 'event', id: entry.id });
  };

  const scroller = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const follow = useFollow(scroller, rows.length, run.status === 'live');
  const goToViolation = (): void => {
    const next = nextViolation(table, (active && table.rowOf(active)) ?? -1);
    if (next) open(next);
  };
  usePaneKeys({
    '/': () => search.current?.focus(),
    f: () => follow.setFollowing(!follow.isFollowing),
    n: goToViolation,
    o: () => active && open(active),
    Escape: () => setPanel(undefined),
  });

  const label = targetLabels[targetId];
  const [dialect] = run.frames.map((frame) => frame.dialect);
  return (
    <div ref={root} className="streams" tabIndex={-1} data-frames={table.hasFrames || undefined}>
      <StreamToolbar
        filter={filter}
        onFilter={(next) => {
          if (selection?.type === 'agent' && next.agent !== filter.agent) onSelect(undefined);
          setFilter(next);
        }}
        agents={table.agents.names}
        target={targetId}
        onTarget={onTarget}
        internal={internal}
        onInternal={setInternal}
        search={search}
      />
      <div className="stream-heads" aria-hidden="true">
        <span />
        {table.hasFrames && (
          <span className="head" data-column="frame">
            Source <i>{dialect}</i> <b>{run.frames.length}</b>
          </span>
        )}
        <span className="head">
          Canonical <b>{table.events.length}</b>
        </span>
        <span className="head">
          {label} <b>{table.targets.length}</b>
        </span>
      </div>
      {table.length === 0 ? (
        <p className="empty">{emptyWords(run.status, run.error)}</p>
      ) : (
        <StreamGrid
          view={view}
          rows={rows}
          follow={follow}
          scroller={scroller}
          active={active}
          onActive={setActive}
          onOpen={open}
        />
      )}
      {panel === 'details' && active && (
        <StreamDetails view={view} cell={active} targetLabel={label} onClose={() => setPanel(undefined)} />
      )}
      {panel === 'ledger' && (
        <LossLedger
          table={table}
          targetLabel={label}
          onEvent={(index) => open({ column: 'event', index })}
          onClose={() => setPanel(undefined)}
        />
      )}
      <StreamSummary
        view={view}
        shown={rows.length}
        onViolation={goToViolation}
        onLosses={() => setPanel(panel === 'ledger' ? undefined : 'ledger')}
        isLedgerOpen={panel === 'ledger'}
        isFollowing={follow.isFollowing}
        onFollow={follow.setFollowing}
      />
    </div>
  );
}

/** Acts once on what another pane, or this one, has chosen. */
function useSelection(selection: Selection | undefined, onChosen: (selection: Selection) => void): void {
  const seen = useRef<Selection>(undefined);
  useEffect(() => {
    if (selection === seen.current) return;
    seen.current = selection;
    if (selection) onChosen(selection);
  });
}

function cellOfSelection(selection: Selection, { table, run }: ReturnType<StreamFeed['snapshot']>): Cell | undefined {
  if (selection.type === 'frame') return { column: 'frame', index: selection.index };
  const index =
    selection.type === 'event'
      ? run.entries.findIndex(({ id }) => id === selection.id)
      : selection.type === 'call'
        ? table.events.findIndex((event) => 'toolCallId' in event && event.toolCallId === selection.toolCallId)
        : -1;
  return index < 0 ? undefined : { column: 'event', index };
}

function emptyWords(status: string, error: string | undefined): string {
  if (status === 'idle') return 'There is no run yet. Say something, and watch it come.';
  if (status === 'dropped') return 'The log of this run is not kept any more. Its message is.';
  if (status === 'failed') return error ?? 'The run could not be read.';
  return 'Waiting for the first event…';
}

import './inspect.css';
import './streams/streams.css';
import {
  use,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from 'react';
import type { PaneProps, Selection } from '../inspect-types.ts';
import { ServerListsContext } from '../server-lists.ts';
import { useStoredSetting } from '../use-stored-setting.ts';
import { LossReport } from './streams/loss-report.tsx';
import { noFilter, FilteredRows, type RowFilter } from './streams/row-filter.ts';
import { findNextViolation } from './streams/stream-cells.ts';
import { StreamDetails } from './streams/stream-details.tsx';
import { StreamStore, type StreamView } from './streams/stream-store.ts';
import { parseShares, toGridColumns } from './streams/column-shares.ts';
import { StreamHeads } from './streams/stream-heads.tsx';
import { StreamGrid } from './streams/stream-grid.tsx';
import { StreamSummary } from './streams/stream-summary.tsx';
import type { Cell } from './streams/stream-table.ts';
import { StreamToolbar } from './streams/stream-toolbar.tsx';
import { targets, useTargetFormat } from './streams/target.ts';
import { useFollow } from './streams/use-follow.ts';
import { usePaneKeys } from './use-pane-keys.ts';
import { useElementSize } from '../ui/use-element-size.ts';

/** Source frames, canonical events and target events of a run in three columns, aligned by cause. */
export function StreamsPane(props: PaneProps): ReactNode {
  const [targetId, setTargetId] = useStoredSetting<string>('streams-target', targets[0]!.id);
  const target = targets.find(({ id }) => id === targetId) ?? targets[0]!;
  const format = useTargetFormat(target.id);
  const { events, selection, onSelect } = props;
  const { items } = use(ServerListsContext);
  const [internal, setInternal] = useState(false);
  const [storedShares, setShares] = useStoredSetting<string>('streams-columns', '');
  const root = useRef<HTMLDivElement>(null);
  // A narrow pane has room for two columns; the details still show the frame.
  const isNarrow = useElementSize(root).width < 430;
  const store = useMemo(
    () => new StreamStore(events, format, { internal, frames: !isNarrow, items }),
    [events, format, internal, isNarrow, items],
  );
  const view = useSyncExternalStore(store.subscribe, store.snapshot);
  const { table, run } = view;

  const [filter, setFilter] = useState<RowFilter>(noFilter);
  const appliedFilter = useDeferredValue(filter);
  const frames = useRef(run.frames);
  frames.current = run.frames;
  const rows = useMemo(
    () => new FilteredRows(table, appliedFilter, { getFrame: (index) => frames.current[index]?.frame, items }),
    [table, appliedFilter, items],
  );
  rows.update();

  const [active, setActive] = useState<Cell>();
  const [panel, setPanel] = useState<'details' | 'losses'>();
  // Another run has other rows.
  useEffect(() => {
    setActive(undefined);
    setPanel((before) => (before === 'details' ? undefined : before));
  }, [events]);
  useSelection(selection, (chosen) => {
    if (chosen.type === 'agent') setFilter((before) => ({ ...before, agent: chosen.name }));
    const cell = findSelectedCell(chosen, view);
    if (cell) setActive(cell);
  });
  const open = (cell: Cell): void => {
    setActive(cell);
    setPanel('details');
    const entry = run.entries[cell.column === 'event' ? cell.index : table.getRelated(cell).events[0]];
    if (cell.column === 'frame') onSelect({ type: 'frame', index: cell.index });
    else if (entry) onSelect({ type: 'event', id: entry.id });
  };

  const scroller = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const follow = useFollow(scroller, rows.length, run.status === 'live');
  const goToViolation = (): void => {
    const next = findNextViolation(table, (active && table.findRow(active)) ?? -1);
    if (next) open(next);
  };
  usePaneKeys({
    '/': () => search.current?.focus(),
    f: () => follow.setFollowing(!follow.isFollowing),
    n: goToViolation,
    o: () => active && open(active),
    Escape: () => setPanel(undefined),
  });

  const { label } = format;
  const shares = parseShares(storedShares, table.hasFrames ? 3 : 2);
  return (
    <div ref={root} className="streams" tabIndex={-1} style={{ ['--columns' as string]: toGridColumns(shares) }}>
      <StreamToolbar
        filter={filter}
        onFilter={(next) => {
          if (selection?.type === 'agent' && next.agent !== filter.agent) onSelect(undefined);
          setFilter(next);
        }}
        agents={table.agents.names}
        target={target.id}
        onTarget={setTargetId}
        internal={internal}
        onInternal={setInternal}
        search={search}
      />
      <StreamHeads view={view} targetLabel={label} shares={shares} onShares={(next) => setShares(next.join(' '))} />
      {table.length === 0 ? (
        <p className="empty">{getEmptyText(run.status, run.error)}</p>
      ) : (
        <StreamGrid
          view={view}
          rows={rows}
          follow={follow}
          scroller={scroller}
          active={active}
          onActive={setActive}
          onOpen={open}
          onExpand={(part) =>
            setFilter((before) => {
              const expanded = new Set(before.expanded);
              if (!expanded.delete(part)) expanded.add(part);
              return { ...before, expanded };
            })
          }
        />
      )}
      {panel === 'details' && active && (
        <StreamDetails view={view} cell={active} targetLabel={label} onClose={() => setPanel(undefined)} />
      )}
      {panel === 'losses' && (
        <LossReport
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
        onLosses={() => setPanel(panel === 'losses' ? undefined : 'losses')}
        isLossReportOpen={panel === 'losses'}
        isFollowing={follow.isFollowing}
        onFollow={follow.setFollowing}
      />
    </div>
  );
}

/** Calls back once for each selection, made in this pane or in another one. */
function useSelection(selection: Selection | undefined, onChosen: (selection: Selection) => void): void {
  const seen = useRef<Selection>(undefined);
  useEffect(() => {
    if (selection === seen.current) return;
    seen.current = selection;
    if (selection) onChosen(selection);
  });
}

function findSelectedCell(selection: Selection, { table, run }: StreamView): Cell | undefined {
  if (selection.type === 'frame') return { column: 'frame', index: selection.index };
  const index =
    selection.type === 'event'
      ? run.entries.findIndex(({ id }) => id === selection.id)
      : selection.type === 'call'
        ? table.events.findIndex((event) => 'toolCallId' in event && event.toolCallId === selection.toolCallId)
        : -1;
  return index < 0 ? undefined : { column: 'event', index };
}

function getEmptyText(status: string, error: string | undefined): string {
  if (status === 'idle') return 'No run yet. Send a message to start one.';
  if (status === 'dropped') return 'The log of this run was deleted. Its message is still stored.';
  if (status === 'failed') return error ?? 'Cannot read the run.';
  return 'Waiting for the first event…';
}

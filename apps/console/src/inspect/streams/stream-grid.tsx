import {
  useEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { usePaneKeys } from '../use-pane-keys.ts';
import type { FilteredRows } from './row-filter.ts';
import { getPartStatus, getRowStatus } from './row-status.ts';
import { findAdjacentCell, findCell, findHighlighted } from './stream-cells.ts';
import type { StreamView } from './stream-store.ts';
import { StreamRowView } from './stream-row.tsx';
import type { Cell } from './stream-table.ts';
import type { Follow } from './use-follow.ts';
import { rowHeight, useRowWindow } from '../../ui/use-row-window.ts';

/** Virtualized rows. Hovering a cell, or moving to it, highlights the related cells. */
export function StreamGrid(props: {
  view: StreamView;
  rows: FilteredRows;
  follow: Follow;
  scroller: RefObject<HTMLDivElement | null>;
  active: Cell | undefined;
  onActive: (cell: Cell) => void;
  onOpen: (cell: Cell) => void;
  /** Shows the events of a folded part, or folds them again. */
  onExpand: (part: string) => void;
}): ReactNode {
  const { view, rows, follow, scroller, active, onActive, onOpen, onExpand } = props;
  const { table, run } = view;
  const count = rows.length;
  const [hovered, setHovered] = useState<Cell>();
  const subject = hovered ?? active;
  const related = subject && table.getRelated(subject);
  const activeRow = active && table.findRow(active);
  const activeAt = activeRow === undefined ? undefined : rows.findPosition(activeRow);

  const { first, last, onScroll, reveal } = useRowWindow(scroller, count, follow.isPinned);

  const activate = (cell: Cell | undefined): void => {
    if (!cell) return;
    follow.setFollowing(false);
    onActive(cell);
  };
  /** Column of vertical movement; kept while passing rows without a cell in it. */
  const column = useRef<Cell['column']>('event');
  const move = (by: number): void => {
    const from = activeAt ?? (by > 0 ? -1 : count);
    const to = Math.max(0, Math.min(count - 1, from + by));
    if (to < count) activate(findCell(table.row(rows.at(to)), column.current));
  };
  const moveSideways = (by: 1 | -1): void => {
    const cell = active && activeRow !== undefined && findAdjacentCell(table.row(activeRow), active.column, by);
    if (!cell) return;
    column.current = cell.column;
    activate(cell);
  };

  // Scrolls to the active cell, even if another pane selected it.
  const revealed = useRef<Cell>(undefined);
  useEffect(() => {
    if (active === revealed.current || activeAt === undefined) return;
    revealed.current = active;
    reveal(activeAt);
  });

  const expandActive = (): void => {
    const part = activeAt === undefined ? undefined : rows.getPart(activeAt);
    if (part) onExpand(part.key);
  };
  usePaneKeys({
    j: () => move(1),
    k: () => move(-1),
    h: () => moveSideways(-1),
    l: () => moveSideways(1),
    e: expandActive,
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count }[event.key];
    if (by !== undefined) move(by);
    else if (event.key === 'ArrowLeft') moveSideways(-1);
    else if (event.key === 'ArrowRight') moveSideways(1);
    else if (event.key === 'Enter' && active) onOpen(active);
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    const part = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-part]') : null;
    if (part?.dataset.part !== undefined) return onExpand(part.dataset.part);
    const cell = getCell(event.target);
    if (!cell) return;
    column.current = cell.column;
    onOpen(cell);
  };

  const described =
    active && activeAt !== undefined && activeAt < count ? `stream-cell-${activeAt}-${active.column}` : undefined;
  return (
    <div
      ref={scroller}
      className="stream-rows"
      role="grid"
      tabIndex={0}
      aria-label="Streams, aligned by cause"
      aria-rowcount={count}
      aria-keyshortcuts="j k h l e Enter n f /"
      aria-activedescendant={described}
      onScroll={() => {
        follow.onScroll();
        onScroll();
      }}
      onKeyDown={onKeyDown}
      // The keyboard has no hover: it activates a cell, which highlights the same cells.
      onPointerOver={(event) => setHovered(getCell(event.target))}
      onPointerLeave={() => setHovered(undefined)}
      onClick={onClick}
    >
      <div className="stream-canvas" role="presentation" style={{ height: count * rowHeight }}>
        {Array.from({ length: last - first }, (_, nth) => {
          const position = first + nth;
          const index = rows.at(position);
          const part = rows.getPart(position);
          const isFolded = part !== undefined && !part.isExpanded;
          const row = isFolded ? part.row : table.row(index);
          const { status, text } = isFolded ? getPartStatus(table, part) : getRowStatus(table, row);
          return (
            <StreamRowView
              key={position}
              position={position}
              top={position * rowHeight}
              row={row}
              part={part}
              frame={row.frame === undefined ? undefined : run.frames[row.frame]?.frame}
              event={row.event === undefined ? undefined : table.events[row.event]}
              target={row.target === undefined ? undefined : table.targets[row.target]}
              hasFrames={table.hasFrames}
              agent={row.cause === undefined ? undefined : table.getAgent(row.cause)}
              status={status}
              statusText={text}
              highlighted={findHighlighted(row, related)}
              active={activeAt === position ? active?.column : undefined}
            />
          );
        })}
      </div>
    </div>
  );
}

/** Returns the table cell that contains an element. */
function getCell(target: EventTarget): Cell | undefined {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null;
  if (element?.dataset.index === undefined) return undefined;
  return { column: element.dataset.column as Cell['column'], index: Number(element.dataset.index) };
}

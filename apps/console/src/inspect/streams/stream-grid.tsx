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
import { cellAside, cellAt, litIn } from './stream-cells.ts';
import type { StreamView } from './stream-feed.ts';
import { lightOf } from './stream-light.ts';
import { StreamRowView } from './stream-row.tsx';
import type { Cell } from './stream-table.ts';
import type { Follow } from './use-follow.ts';
import { rowHeight, useRowWindow } from './use-row-window.ts';

/** The rows, as far as they are in sight. Point at one, or move to it, and what belongs to it lights up. */
export function StreamGrid(props: {
  view: StreamView;
  rows: FilteredRows;
  follow: Follow;
  scroller: RefObject<HTMLDivElement | null>;
  active: Cell | undefined;
  onActive: (cell: Cell) => void;
  onOpen: (cell: Cell) => void;
}): ReactNode {
  const { view, rows, follow, scroller, active, onActive, onOpen } = props;
  const { table, run } = view;
  const count = rows.length;
  const [pointed, setPointed] = useState<Cell>();
  const subject = pointed ?? active;
  const relatives = subject && table.relativesOf(subject);
  const activeRow = active && table.rowOf(active);
  const activeAt = activeRow === undefined ? undefined : rows.positionOf(activeRow);

  const { first, last, onScroll, reveal } = useRowWindow(scroller, count, follow.isHeld);

  const go = (cell: Cell | undefined): void => {
    if (!cell) return;
    follow.setFollowing(false);
    onActive(cell);
  };
  /** The column that one walks in, also past rows that have nothing there. */
  const walked = useRef<Cell['column']>('event');
  const move = (by: number): void => {
    const from = activeAt ?? (by > 0 ? -1 : count);
    const to = Math.max(0, Math.min(count - 1, from + by));
    if (to < count) go(cellAt(table.row(rows.at(to)), walked.current));
  };
  const aside = (by: 1 | -1): void => {
    const cell = active && activeRow !== undefined && cellAside(table.row(activeRow), active.column, by);
    if (!cell) return;
    walked.current = cell.column;
    go(cell);
  };

  // However it became active, it comes into sight.
  const shown = useRef<Cell>(undefined);
  useEffect(() => {
    if (active === shown.current || activeAt === undefined) return;
    shown.current = active;
    reveal(activeAt);
  });

  usePaneKeys({ j: () => move(1), k: () => move(-1), h: () => aside(-1), l: () => aside(1) });
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count }[event.key];
    if (by !== undefined) move(by);
    else if (event.key === 'ArrowLeft') aside(-1);
    else if (event.key === 'ArrowRight') aside(1);
    else if (event.key === 'Enter' && active) onOpen(active);
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    const cell = cellOf(event.target);
    if (!cell) return;
    walked.current = cell.column;
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
      aria-keyshortcuts="j k h l Enter n f /"
      aria-activedescendant={described}
      onScroll={() => {
        follow.onScroll();
        onScroll();
      }}
      onKeyDown={onKeyDown}
      // Only the pointer points; the keyboard makes a row active, which lights up the same.
      onPointerOver={(event) => setPointed(cellOf(event.target))}
      onPointerLeave={() => setPointed(undefined)}
      onClick={onClick}
    >
      <div className="stream-canvas" role="presentation" style={{ height: count * rowHeight }}>
        {Array.from({ length: last - first }, (_, nth) => {
          const position = first + nth;
          const index = rows.at(position);
          const row = table.row(index);
          const { light, text } = lightOf(table, row);
          return (
            <StreamRowView
              key={position}
              position={position}
              top={position * rowHeight}
              row={row}
              frame={row.frame === undefined ? undefined : run.frames[row.frame]?.frame}
              event={row.event === undefined ? undefined : table.events[row.event]}
              target={row.target === undefined ? undefined : table.targets[row.target]}
              hasFrames={table.hasFrames}
              agent={row.cause === undefined ? undefined : table.agentOf(row.cause)}
              light={light}
              lightText={text}
              lit={litIn(row, relatives)}
              active={activeRow === index ? active?.column : undefined}
            />
          );
        })}
      </div>
    </div>
  );
}

/** The cell of the table that an element is in. */
function cellOf(target: EventTarget): Cell | undefined {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null;
  if (element?.dataset.index === undefined) return undefined;
  return { column: element.dataset.column as Cell['column'], index: Number(element.dataset.index) };
}

import { useRef, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import { moveSeparator, type ColumnShares } from './column-shares.ts';
import type { StreamView } from './stream-store.ts';

const keyStep = 24;

/** Heads of the columns, with separators that change their widths. */
export function StreamHeads(props: {
  view: StreamView;
  targetLabel: string;
  shares: ColumnShares;
  onShares: (shares: ColumnShares) => void;
}): ReactNode {
  const { view, targetLabel, shares, onShares } = props;
  const { table, run } = view;
  const root = useRef<HTMLDivElement>(null);
  const move = (column: number, pixels: number): void =>
    onShares(moveSeparator(shares, column, pixels, (root.current?.clientWidth ?? 0) - 18));
  const [dialect] = run.frames.map((frame) => frame.dialect);
  const source = {
    column: 'frame',
    name: 'Source',
    detail: dialect,
    count: run.frames.length,
    title: "What the agent's runtime sent, as received",
  };
  const columns = [
    ...(table.hasFrames ? [source] : []),
    {
      column: 'event',
      name: 'Events',
      detail: undefined,
      count: table.events.length,
      title: "The run as Intertie stores it: what the agent's runtime sent, in one format for all runtimes",
    },
    {
      column: 'target',
      name: targetLabel,
      detail: undefined,
      count: table.targets.length,
      title: `What a client that uses ${targetLabel} receives`,
    },
  ];
  return (
    <div ref={root} className="stream-heads">
      <span />
      {columns.map(({ column, name, detail, count, title }, index) => (
        <span key={column} className="head" data-column={column} title={title}>
          {index > 0 && <Separator label={`Width of ${name}`} onMove={(pixels) => move(index, pixels)} />}
          {name} {detail !== undefined && <i>{detail} </i>}
          <b>{count}</b>
        </span>
      ))}
    </div>
  );
}

function Separator({ label, onMove }: { label: string; onMove: (pixels: number) => void }): ReactNode {
  const lastX = useRef(0);
  const onPointerDown = (event: PointerEvent<HTMLElement>): void => {
    lastX.current = event.clientX;
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>): void => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    onMove(event.clientX - lastX.current);
    lastX.current = event.clientX;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const pixels = { ArrowLeft: -keyStep, ArrowRight: keyStep }[event.key];
    if (pixels === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onMove(pixels);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a separator that can be moved is interactive
    <span
      className="separator"
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={50}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  );
}

import { memo, type ReactNode } from 'react';
import { useAgentColor } from '../../use-agent-color.ts';
import { describeItem, type Described } from '../describe-item.ts';
import type { Cell, StreamRow } from './stream-table.ts';

export type Light = 'good' | 'loss' | 'bad' | 'none';

export type StreamRowProps = {
  /** Its index among the rows that are shown, and where that is. */
  position: number;
  top: number;
  row: StreamRow;
  frame: unknown;
  event: unknown;
  target: unknown;
  hasFrames: boolean;
  agent: string | undefined;
  light: Light;
  /** What the light means, in words. */
  lightText: string;
  /** Which of its cells belong to what is pointed at, as in `frame target`. */
  lit: string;
  active: Cell['column'] | undefined;
};

const columns = ['frame', 'event', 'target'] as const;

/** One row of the three columns. It is drawn again only if something of it changes. */
export const StreamRowView = memo(function StreamRowView(props: StreamRowProps): ReactNode {
  const { position, top, row, agent, light, lightText, lit, active, hasFrames } = props;
  const getColor = useAgentColor();
  return (
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- the grid has the focus and names its active row
    <div id={`stream-row-${position}`} role="row" aria-rowindex={position + 2} className="stream-row" style={{ top }}>
      <span role="gridcell" className="light" data-light={light} title={lightText} aria-label={lightText} />
      {columns.map((column) =>
        column === 'frame' && !hasFrames ? null : (
          <StreamCell
            key={column}
            column={column}
            id={`stream-cell-${position}-${column}`}
            index={row[column]}
            item={props[column]}
            isContinued={column === 'frame' ? row.origin !== undefined : column === 'event' && row.cause !== undefined}
            isLit={lit.includes(column)}
            isActive={active === column}
            color={column === 'event' && agent !== undefined ? getColor(agent) : undefined}
            agent={column === 'event' ? agent : undefined}
          />
        ),
      )}
    </div>
  );
});

function StreamCell(props: {
  column: Cell['column'];
  id: string;
  index: number | undefined;
  item: unknown;
  isContinued: boolean;
  isLit: boolean;
  isActive: boolean;
  color: string | undefined;
  agent: string | undefined;
}): ReactNode {
  const { column, id, index, item, isContinued, isLit, isActive, color, agent } = props;
  const { type, text, family } = index === undefined ? nothing : described(item);
  return (
    <span
      id={id}
      role="gridcell"
      className="cell"
      data-column={column}
      data-index={index}
      data-lit={isLit || undefined}
      data-continued={(index === undefined && isContinued) || undefined}
      aria-selected={isActive}
      style={color === undefined ? undefined : { boxShadow: `inset 3px 0 ${color}` }}
    >
      {index !== undefined && (
        <>
          <span className="index" title={agent}>
            {column === 'event' ? index + 1 : index}
          </span>
          <span className="type" data-family={family}>
            {type}
          </span>
          <span className="text">{text}</span>
        </>
      )}
    </span>
  );
}

const nothing: Described = { type: '', family: 'data', text: '' };
const known = new WeakMap<object, Described>();

/** Items never change, and a row is drawn many times. */
function described(item: unknown): Described {
  if (item === undefined) return { ...nothing, type: '…' };
  if (typeof item !== 'object' || item === null) return describeItem(item);
  const before = known.get(item);
  if (before) return before;
  const fresh = describeItem(item);
  known.set(item, fresh);
  return fresh;
}

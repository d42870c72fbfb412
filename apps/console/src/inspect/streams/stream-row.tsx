import type { ItemClassifier } from '@intertie/core/internal';
import { memo, use, type ReactNode } from 'react';
import { ServerListsContext } from '../../server-lists.ts';
import { useAgentColor } from '../../agents/use-agent-color.ts';
import { describeItem, type Described } from '../describe-item.ts';
import { Icon } from '../../ui/icon.tsx';
import type { FoldedPart } from './row-filter.ts';
import type { RowStatus } from './row-status.ts';
import type { Cell, StreamRow } from './stream-table.ts';

export type StreamRowProps = {
  /** Position among the shown rows, and its offset in pixels. */
  position: number;
  top: number;
  row: StreamRow;
  /** Part that begins in this row. */
  part: FoldedPart | undefined;
  frame: unknown;
  event: unknown;
  target: unknown;
  hasFrames: boolean;
  agent: string | undefined;
  status: RowStatus;
  statusText: string;
  /** Columns with a highlighted cell, for example `frame target`. */
  highlighted: string;
  active: Cell['column'] | undefined;
};

const columns = ['frame', 'event', 'target'] as const;

/** One row of the three columns. Memoized: renders again only if one of its props changes. */
export const StreamRowView = memo(function StreamRowView(props: StreamRowProps): ReactNode {
  const { position, top, row, agent, status, statusText, highlighted, active, hasFrames } = props;
  const getColor = useAgentColor();
  return (
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- the grid has the focus and names its active row
    <div id={`stream-row-${position}`} role="row" aria-rowindex={position + 2} className="stream-row" style={{ top }}>
      <span role="gridcell" className="row-status" data-status={status} title={statusText} aria-label={statusText} />
      {columns.map((column) =>
        column === 'frame' && !hasFrames ? null : (
          <StreamCell
            key={column}
            column={column}
            id={`stream-cell-${position}-${column}`}
            index={row[column]}
            item={props[column]}
            part={props.part}
            isContinued={column === 'frame' ? row.origin !== undefined : column === 'event' && row.cause !== undefined}
            isHighlighted={highlighted.includes(column)}
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
  part: FoldedPart | undefined;
  isContinued: boolean;
  isHighlighted: boolean;
  isActive: boolean;
  color: string | undefined;
  agent: string | undefined;
}): ReactNode {
  const { column, id, index, item, part, isContinued, isHighlighted, isActive, color, agent } = props;
  const { items } = use(ServerListsContext);
  const { type, text, family } = index === undefined ? nothing : describe(item, items);
  const count = part && !part.isExpanded ? part[countNames[column]] : 1;
  return (
    <span
      id={id}
      role="gridcell"
      className="cell"
      data-column={column}
      data-index={index}
      data-highlighted={isHighlighted || undefined}
      data-continued={(index === undefined && isContinued) || undefined}
      aria-selected={isActive}
      style={color === undefined ? undefined : { boxShadow: `inset 3px 0 ${color}` }}
    >
      {index !== undefined && (
        <>
          <span className="index" title={agent}>
            {column === 'event' ? index + 1 : index}
          </span>
          {part && column === 'event' && (
            <span
              className="fold"
              data-part={part.key}
              data-expanded={part.isExpanded || undefined}
              title={part.isExpanded ? 'Fold into one row (e)' : `Show ${part.events} events (e)`}
            >
              <Icon name="chevron" size={10} />
            </span>
          )}
          <span className="type" data-family={family}>
            {count > 1 ? getPartName(type) : type}
          </span>
          {count > 1 && <span className="count">×{count}</span>}
          <span className="text">{count > 1 && column !== 'frame' ? part?.text : text}</span>
        </>
      )}
    </span>
  );
}

const countNames = { frame: 'frames', event: 'events', target: 'targets' } as const;

/** Returns the name that the items of a part share, for example `text` of `text-start`. */
function getPartName(type: string): string {
  return type.replace(/[-_:.](start|started|delta|content|chunk|args|end)$/i, '');
}

const nothing: Described = { type: '', family: 'data', text: '' };
const caches = new WeakMap<ItemClassifier, WeakMap<object, Described>>();

/** Caches descriptions: items never change, and rows render often. */
function describe(item: unknown, items: ItemClassifier): Described {
  if (item === undefined) return { ...nothing, type: '…' };
  if (typeof item !== 'object' || item === null) return describeItem(item, items);
  const cache = caches.get(items) ?? new WeakMap<object, Described>();
  caches.set(items, cache);
  const cached = cache.get(item);
  if (cached) return cached;
  const described = describeItem(item, items);
  cache.set(item, described);
  return described;
}

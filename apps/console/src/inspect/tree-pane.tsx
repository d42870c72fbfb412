import './inspect.css';
import './tree/tree.css';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore, type KeyboardEvent, type ReactNode } from 'react';
import { api, formatError, type TreeMessage } from '../api.ts';
import type { PaneProps } from '../inspect-types.ts';
import { Button } from '../ui/button.tsx';
import { getStatusLabel } from './status-labels.ts';
import { findLeafBelow, buildTreeRows, type TreeRow } from './tree/message-tree.ts';
import { toPlainText } from './tree/plain-text.ts';
import { usePaneKeys } from './use-pane-keys.ts';

/** All messages of a thread with their branches. Switches to a branch, or forks from a message. */
export function TreePane({ threadId, events, selection, onSelect, onLeaf }: PaneProps): ReactNode {
  const { status, runId } = useSyncExternalStore(events.subscribe, events.snapshot);
  const [version, setVersion] = useState(0);
  // The server creates a thread with its first run.
  const tree = useTree(
    runId === undefined ? '' : threadId,
    `${runId} ${status === 'live' ? 'live' : 'over'} ${version}`,
  );
  const rows = useMemo(() => buildTreeRows(tree.messages, tree.headId), [tree]);
  const list = useRef<HTMLDivElement>(null);
  const chosen = selection?.type === 'message' ? selection.messageId : undefined;

  const choose = (id: string): void => {
    onSelect({ type: 'message', messageId: id });
    list.current?.querySelector<HTMLElement>(`[data-message=${JSON.stringify(id)}]`)?.focus();
  };
  const move = (by: number): void => {
    const at = rows.findIndex(({ message }) => message.id === chosen);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at === -1 && by < 0 ? rows.length - 1 : at + by))];
    if (next) choose(next.message.id);
  };
  const setHead = (messageId: string): void => {
    onLeaf(messageId);
    // The server sets the head: read the tree again.
    setTimeout(() => setVersion((before) => before + 1), 150);
  };
  const jump = (id: string): void => setHead(findLeafBelow(tree.messages, id));
  usePaneKeys({ j: () => move(1), k: () => move(-1), Escape: () => onSelect(undefined) });
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(by);
  };

  if (tree.error !== undefined) return <p className="empty">{tree.error}</p>;
  if (rows.length === 0) return <p className="empty">No messages yet.</p>;
  const lanes = Math.max(...rows.map(({ lane }) => lane)) + 1;
  return (
    <div ref={list} className="tree" role="tree" aria-label="Messages and branches" onKeyDown={onKeyDown}>
      {rows.map((row, index) => (
        <MessageRow
          key={row.message.id}
          row={row}
          lanes={lanes}
          isChosen={row.message.id === chosen}
          isFocusable={chosen === undefined ? index === 0 : row.message.id === chosen}
          onChoose={() => choose(row.message.id)}
          onJump={() => jump(row.message.id)}
          onFork={() => setHead(row.message.id)}
        />
      ))}
    </div>
  );
}

function MessageRow(props: {
  row: TreeRow;
  lanes: number;
  isChosen: boolean;
  isFocusable: boolean;
  onChoose: () => void;
  onJump: () => void;
  onFork: () => void;
}): ReactNode {
  const { row, lanes, isChosen, isFocusable, onChoose, onJump, onFork } = props;
  const { message, isActive, isHead, siblings, nth } = row;
  return (
    <div
      className="tree-row"
      role="treeitem"
      aria-level={row.lane + 1}
      aria-selected={isChosen}
      tabIndex={isFocusable ? 0 : -1}
      data-message={message.id}
      data-active={isActive || undefined}
      onClick={onChoose}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) onJump();
      }}
    >
      <Lanes row={row} lanes={lanes} />
      <span className="role" data-role={message.role}>
        {roles[message.role] ?? message.role}
      </span>
      <span className="preview">{toPlainText(message.preview) || '(no text)'}</span>
      {siblings > 1 && (
        <span className="mark" title={`Version ${nth} of ${siblings}`}>
          {nth}/{siblings}
        </span>
      )}
      {message.status !== undefined && message.status !== 'complete' && (
        <span className="mark" data-status={message.status}>
          {getStatusLabel(message.status)}
        </span>
      )}
      {isHead && (
        <span className="mark head" title="The next message follows this one">
          current
        </span>
      )}
      {isChosen && (
        <span className="acts">
          {!isActive && (
            <Button variant="quiet" title="Shows this version in the chat" onClick={onJump}>
              Go<span className="rest"> to this branch</span>
            </Button>
          )}
          {!isHead && (
            <Button variant="quiet" icon="branch" title="The next message follows this one" onClick={onFork}>
              Fork<span className="rest"> from here</span>
            </Button>
          )}
        </span>
      )}
    </div>
  );
}

const roles: { readonly [role: string]: string } = { user: 'You', assistant: 'Answer', system: 'Instructions' };

const laneWidth = 14;
const rowHeight = 30;

/** Draws the branches at a row: the message's own, those that pass it, and a fork. */
function Lanes({ row, lanes }: { row: TreeRow; lanes: number }): ReactNode {
  const x = (lane: number): number => lane * laneWidth + laneWidth / 2;
  const middle = rowHeight / 2;
  const top = row.from === undefined ? (row.isFirst ? undefined : `M${x(row.lane)},0V${middle}`) : undefined;
  return (
    <svg className="lanes" width={lanes * laneWidth} height={rowHeight} aria-hidden="true">
      {row.passing.map(({ lane, isActive }) => (
        <path key={lane} data-active={isActive || undefined} d={`M${x(lane)},0V${rowHeight}`} />
      ))}
      {top !== undefined && <path data-active={row.isActive || undefined} d={top} />}
      {row.from !== undefined && (
        <path d={`M${x(row.from)},0C${x(row.from)},${middle} ${x(row.lane)},0 ${x(row.lane)},${middle}`} />
      )}
      {!row.isLeaf && (
        <path data-active={row.isActiveBelow || undefined} d={`M${x(row.lane)},${middle}V${rowHeight}`} />
      )}
      <circle
        cx={x(row.lane)}
        cy={middle}
        r={row.isHead ? 4.5 : 3.5}
        data-active={row.isActive || undefined}
        data-role={row.message.role}
      />
    </svg>
  );
}

type Tree = { messages: TreeMessage[]; headId?: string; error?: string };

/** Reads the tree again when `version` changes. */
function useTree(threadId: string, version: string): Tree {
  const [tree, setTree] = useState<Tree>({ messages: [] });
  useEffect(() => {
    if (threadId === '') return undefined;
    let isCurrent = true;
    api.tree(threadId).then(
      (found) => isCurrent && setTree(found),
      (error: unknown) => isCurrent && setTree({ messages: [], error: formatError(error) }),
    );
    return () => void (isCurrent = false);
  }, [threadId, version]);
  return tree;
}

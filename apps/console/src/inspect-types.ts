import type { AgentEvent, Json, Tape } from '@intertie/core';

/** Canonical event with its cursor in the run log. */
export type LogEntry = {
  /** Cursor `epoch.seq`; a reader resumes after it. */
  id: string;
  event: AgentEvent;
};

/** Frame of the source's own protocol. `event.origin` is the index of the frame that caused an event. */
export type SourceFrame = { index: number; at: number; dialect: string; frame: Json };

/**
 * Immutable snapshot of the inspected run. In the next snapshot of the same run, `entries` and `frames` have only been appended
 * to, unless the log was reset (then they are shorter).
 */
export type RunSnapshot = {
  runId: string | undefined;
  entries: readonly LogEntry[];
  /** Empty if the server records none. */
  frames: readonly SourceFrame[];
  /**
   * `idle`: no run. `loading`: no event received yet. `live`: more events may follow. `ended`: complete.
   * `dropped`: the server deleted the log. `failed`: see `error`.
   */
  status: 'idle' | 'loading' | 'live' | 'ended' | 'dropped' | 'failed';
  error?: string;
  /** Number of times the stream was interrupted and resumed. */
  reconnects: number;
};

/** Store for `useSyncExternalStore(events.subscribe, events.snapshot)`. Notifies at most once per animation frame. */
export interface RunEvents {
  subscribe: (listener: () => void) => () => void;
  snapshot: () => RunSnapshot;
}

/** Selected item. Every pane highlights the items related to it. */
export type Selection =
  | { type: 'event'; id: string }
  | { type: 'frame'; index: number }
  | { type: 'agent'; name: string }
  | { type: 'call'; toolCallId: string }
  | { type: 'message'; messageId: string };

/** Props of every inspector pane. */
export type PaneProps = {
  threadId: string;
  /** Absent if the thread has no run yet. */
  runId?: string;
  /** Name of the run's agent in `/api/agents`. */
  agent?: string;
  events: RunEvents;
  selection: Selection | undefined;
  onSelect: (selection: Selection | undefined) => void;
  /** Makes this message the head of the thread, so that the next message follows it. */
  onLeaf: (messageId: string) => void;
  /** Sends a message of the user again with a change, as a branch. Returns the reason if it is not possible now. */
  onRunAgain: (messageId: string, change: { text: string; agent: string }) => Promise<string | undefined>;
  /** Shows the chat after the first `count` entries; undefined: the current chat. */
  onScrub: (count: number | undefined) => void;
  /** Shows a tape of canonical events instead of a run; undefined: returns to the run. */
  onTape: (tape: Tape<AgentEvent> | undefined) => void;
};

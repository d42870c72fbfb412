import type { AgentEvent, Json, Tape } from '@intertie/core';

/** A canonical event and its place in the run's log. */
export type LogEntry = {
  /** `epoch.seq`, the cursor that a reader goes on behind. */
  id: string;
  event: AgentEvent;
};

/** A frame of the source's own protocol. `event.origin` is the index of the frame that caused an event. */
export type SourceFrame = { index: number; at: number; dialect: string; frame: Json };

/**
 * All that is known of the run that is looked at; it never changes. In the next snapshot of the same run, `entries` and
 * `frames` have grown at their end only, unless the log began anew (then they are shorter).
 */
export type RunSnapshot = {
  runId: string | undefined;
  entries: readonly LogEntry[];
  /** Empty where the server keeps none. */
  frames: readonly SourceFrame[];
  /**
   * `idle`: there is no run. `loading`: not a word yet. `live`: more may come. `ended`: all of it is here.
   * `dropped`: the log is not kept any more. `failed`: see `error`.
   */
  status: 'idle' | 'loading' | 'live' | 'ended' | 'dropped' | 'failed';
  error?: string;
  /** How often the stream broke and went on behind the last event. */
  reconnects: number;
};

/** For `useSyncExternalStore(events.subscribe, events.snapshot)`. Told at most once per animation frame. */
export interface RunEvents {
  subscribe: (listener: () => void) => () => void;
  snapshot: () => RunSnapshot;
}

/** What is pointed at. Panes light up what belongs to it. */
export type Selection =
  | { type: 'event'; id: string }
  | { type: 'frame'; index: number }
  | { type: 'agent'; name: string }
  | { type: 'call'; toolCallId: string }
  | { type: 'message'; messageId: string };

/** What every pane of the inspector is given. */
export type PaneProps = {
  threadId: string;
  /** Absent: the thread has no run yet. */
  runId?: string;
  /** Whose run it is: the name under `/api/agents`. */
  agent?: string;
  events: RunEvents;
  selection: Selection | undefined;
  onSelect: (selection: Selection | undefined) => void;
  /** Makes this message the end of the branch that the chat shows, so that what is said next follows it. */
  onLeaf: (messageId: string) => void;
  /** The chat shows what the first `count` entries make; undefined: all of it. */
  onScrub: (count: number | undefined) => void;
  /** Looks at a tape of canonical events instead of a run; undefined: back to the run. */
  onTape: (tape: Tape<AgentEvent> | undefined) => void;
};

import type { AgentSource } from '../event/agent-source.ts';
import type { AgentEvent } from '../event/event.ts';
import type { CanonicalMessage } from '../event/message.ts';
import type { RunInput } from '../event/run-input.ts';
import type { JsonObject } from '../json/json.ts';
import type { Loss, OnLoss } from '../json/loss.ts';
import type { Tape } from '../tape/tape.ts';
import type { Codec } from '../codec/codec.ts';
import type { ProtocolEndpoints } from './endpoints.ts';
import type { ProtocolItems } from './item-families.ts';

/** Rule of a protocol: the invariant in one sentence, and how to fix a violation. */
export type Rule = { id: string; sentence: string; fix: string };

/** Broken rule. `index` is that of the item, or the number of items if the end of the stream is wrong. */
export type Violation = { index: number; rule: string; message: string; path?: string };

/** Checks a stream of items against the rules of a protocol. Synchronous, like a codec. */
export interface Checker {
  feed(item: unknown, report: Report): void;
  end(report: Report): void;
}
/** Receives the findings of a `Checker`. */
export interface Report {
  violation(rule: string, message: string, path?: string): void;
  loss(loss: Loss): void;
}

/** Ids and start time that the first item of a run contains. Times are milliseconds since 1970. */
export type RunIds = { runId?: string; threadId?: string; messageId?: string; startedAt?: number };

/** Bytes of a stream of the protocol. */
export type ProtocolFraming = {
  /** Media types of a stream, the usual one first. */
  mediaTypes: readonly string[];
  /** Whether the name of a server-sent event is part of the item, which is `{ event, data }`. */
  hasEventNames?: true;
  /** Whether each run ends with `data: [DONE]`, after which a client stops reading. */
  hasDone?: true;
  /** Response header that identifies a stream of the protocol. */
  header?: string;
};

/** Stream format with a name and rules: how to detect, check, decode and encode it, and how to reach its servers. */
export interface Protocol<Item = unknown> {
  readonly name: string;
  /** Other names that users know it by, in lower case. */
  readonly aliases?: readonly string[];
  /** Name for columns and menus. */
  readonly label: string;
  /** Description of a stream, as a noun phrase. */
  readonly title: string;
  readonly framing: ProtocolFraming;
  readonly rules: readonly Rule[];
  /** Whether an item may belong to this protocol. Detection combines the results of several items. */
  looksLike(item: unknown): boolean;
  /** Returns the kind of an item, for counting. */
  getKind(item: unknown): string;
  /** Whether the item starts a run, if the previous run has ended. Default: never. */
  startsRun?(item: unknown): boolean;
  /** Whether the item ends a run. Items after the next `startsRun` are checked as a separate stream. */
  endsRun?(item: unknown): boolean;
  readRunIds?(item: unknown): RunIds;
  /** Timestamp of the item, if it has one. */
  readTime?(item: unknown): number | undefined;
  checker(): Checker;
  decoder?(run: RunInput, onLoss: OnLoss): Codec<Item, AgentEvent>;
  encoder?(run: RunInput, onLoss: OnLoss, options?: EncodeOptions): Codec<AgentEvent, Item>;
  /** Kinds of items, for filters. Absent: every item belongs to the family `data`. */
  readonly items?: ProtocolItems;
  /** Format of stored messages for clients of the protocol. */
  readonly messages?: ProtocolMessages;
  /** Versions of the protocol's readers. Absent if there is one. */
  readonly variants?: ProtocolVariants;
  /** Examples for the help texts of commands, by command. */
  readonly examples?: { readonly [command: string]: ReadonlyArray<readonly [line: string, title: string]> };
  /** How to reach servers of the protocol. Absent for formats without servers. */
  readonly client?: ProtocolClient;
  /** Serves recorded runs like a server of the protocol. */
  readonly replay?: ProtocolReplay;
  /** Serves the agents of an Intertie server to clients of the protocol. */
  readonly endpoints?: ProtocolEndpoints;
}

export type EncodeOptions = {
  /** Includes internal messages between agents. Default: false. */
  includeInternal?: boolean;
};

/** Converts complete messages instead of a stream. */
export interface ProtocolMessages {
  /** Name of the format, for queries. */
  readonly format: string;
  encode(messages: readonly CanonicalMessage[]): unknown[];
}

/** Versions of a protocol that a command-line option selects. */
export type ProtocolVariants = {
  /** Option without its dashes. */
  option: string;
  description: string;
  /** Names of the versions, the default first. */
  names: readonly string[];
  create(name: string): Protocol;
};

/** Ids and text of a request with one prompt. */
export type PromptRequest = { prompt: string; threadId: string; runId: string; messageId: string };

/** Access to one server. */
export type ProtocolConnection = {
  url: string;
  fetch: typeof globalThis.fetch;
  headers: Record<string, string>;
  token?: string | undefined;
};

/** Source of a server that can also reattach to a live run. */
export interface ConnectedSource extends AgentSource {
  /** Records the server's ids from an item that another reader of the run has decoded. */
  recordIds?(item: unknown, run: RunInput): void;
  /** Reads the live run of the thread from its start; null if there is none. */
  reattach?(run: RunInput, signal: AbortSignal): Promise<ReadableStream<AgentEvent> | null>;
}

/** Server that a probe has recognized. */
export type Probe = {
  isFine: boolean;
  found: string;
  /** How to fix the first problem found. */
  next?: string;
  /** Whether other servers may look the same, so that the result of another probe has priority. */
  isGuess?: true;
};

/** Talks to servers of a protocol as its own clients do. */
export interface ProtocolClient {
  /** Noun phrase for a server, for example "an AG-UI agent". */
  readonly server: string;
  /** Whether a path usually belongs to a server of the protocol. */
  matchesPath?(pathname: string): boolean;
  /** Whether the JSON at the root of a server identifies it. */
  matchesRoot?(root: unknown): boolean;
  /** Whether servers ignore unknown fields, so that one request can fit several protocols. */
  readonly canCombine?: true;
  /** Creates the body of a POST request with one prompt. */
  createBody(request: PromptRequest): JsonObject;
  /** URL of the POST request. Default: the given one. */
  getUrl?(url: string, headers: Record<string, string>): string;
  connect(connection: ProtocolConnection): ConnectedSource;
  /** Recognizes a server without starting a run. Undefined if it speaks another protocol. */
  probe?(connection: ProtocolConnection): Promise<Probe | undefined>;
}

/** Tapes that a replay plays in turn. */
export type ReplayTapes = {
  /** Plays the tapes in the order of the turns of each thread. */
  source: AgentSource;
  /** Each tape with its source. A handler can play items of its own protocol unchanged. */
  tapes: ReadonlyArray<{ protocol: string; tape: Tape<unknown>; source: AgentSource }>;
  speed: number;
};

/** Serves recorded runs. */
export interface ProtocolReplay {
  /** Path that the tool prints. */
  readonly path: string;
  createHandler(tapes: ReplayTapes): Promise<(request: Request) => Promise<Response>>;
}

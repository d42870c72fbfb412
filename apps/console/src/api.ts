import type { Answer, Json, JsonObject, Outcome, Usage } from '@intertie/core';
import type { ProtocolItems, Topology } from '@intertie/core/internal';
import type { Decision, RunState } from '@intertie/core/store';
import type { UIMessage } from 'ai';

/** Response of `/api/agents`: the server and its agents. */
export type ServerInfo = {
  agents: AgentInfo[];
  version: string;
  database: { kind: 'pglite' | 'postgres' };
  /** Whether the server listens on loopback only. */
  loopback: boolean;
};

export type AgentInfo = {
  name: string;
  /** Name of a `KindInfo`. */
  kind: string;
  description?: string;
  isDefault?: true;
  suggestions?: string[];
  pauses: 'replay' | 'token' | 'live';
  hasTopology: boolean;
  isDemo?: true;
};

/** Response of `/api/protocols`. */
export type ProtocolLists = { protocols: ProtocolInfo[]; agentKinds: KindInfo[] };

export type ProtocolInfo = { name: string; label: string; title: string; items?: ProtocolItems };

/** Kind of agents, with its name for menus and a noun phrase for an agent. */
export type KindInfo = { name: string; title: string; description: string };

export type ThreadInfo = {
  id: string;
  title?: string;
  agent?: string;
  resourceId?: string;
  metadata?: JsonObject;
  headId?: string;
  /** Whether the last answer is paused. */
  paused?: true;
  version: number | string;
  createdAt: string;
  updatedAt: string;
};

/** Message that a search found. The pieces of the excerpt follow each other. */
export type MatchInfo = {
  threadId: string;
  messageId: string;
  role: string;
  createdAt: string;
  title?: string;
  excerpt: Array<{ text: string; isMatch?: true }>;
};

export type LiveRun = { runId: string; messageId: string; agent: string };

/** Siblings of each message that has any, in creation order, and its index among them. */
export type Branches = { [messageId: string]: { siblings: string[]; index: number } };

export type ThreadMessages = { messages: UIMessage[]; branches: Branches; version: number; live?: LiveRun };

export type RunInfo = {
  runId: string;
  threadId: string;
  messageId: string;
  agent: string;
  state: RunState;
  resumes?: string;
  outcome?: Outcome;
  usage?: Usage[];
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  lastSeq?: number;
};

/** Call of a model in a run, or the input of a runtime that calls its models itself. */
export type ModelCallInfo = {
  kind: 'model' | 'input';
  at: number;
  provider: string;
  model: string;
  /** Messages in the format of the AI SDK's provider interface. */
  prompt: Json[];
  tools: Json[];
  settings: JsonObject;
  usage?: Usage;
  costUsd?: number;
  error?: string;
};

export type TreeMessage = {
  id: string;
  parentId?: string;
  role: string;
  status?: string;
  runId?: string;
  createdAt: string;
  preview: string;
};

/** Answer to a question or result of a client tool. */
export type AnswerInput =
  | Pick<Answer, 'questionId' | 'approved' | 'value' | 'cancelled' | 'reason'>
  | { toolCallId: string; output: Json }
  | { toolCallId: string; error: string };

export type AnswerOutcome = {
  verdicts: Array<{ id: string; result: string }>;
  open: Decision[];
  run?: { runId: string; messageId: string };
};

/** Open decision with the thread that it belongs to, and for an approval the call that it is about. */
export type OpenQuestion = Decision & { title?: string; agent?: string; toolName?: string; input?: Json };

export type WireFault = { cut?: true; delayMs?: number; duplicate?: true; thread: string };

/** Error response of the server. `status` is 0 if the server is unreachable. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly fix: string | undefined;

  constructor(status: number, { code, message, fix }: { code: string; message: string; fix?: string }) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.fix = fix;
  }
}

/** Typed client for the server's HTTP API. */
export const api = {
  server: (): Promise<ServerInfo> => get('/api/agents'),
  protocols: (): Promise<ProtocolLists> => get('/api/protocols'),
  topology: (agent: string): Promise<Topology> => get(`/api/agents/${segment(agent)}/topology`),

  threads: (query: {
    search?: string;
    cursor?: string;
    paused?: 'true';
    limit?: number;
  }): Promise<{ threads: ThreadInfo[]; cursor?: string }> => get('/api/threads', query),
  /** Finds messages by the words of their text. */
  search: (q: string): Promise<{ matches: MatchInfo[] }> => get('/api/search', { q, limit: 30 }),
  thread: (id: string): Promise<{ thread: ThreadInfo; live?: LiveRun; usage?: Json }> =>
    get(`/api/threads/${segment(id)}`),
  editThread: (
    id: string,
    change: { title?: string; headId?: string; metadata?: JsonObject },
  ): Promise<{ thread: ThreadInfo }> => send('PATCH', `/api/threads/${segment(id)}`, change),
  deleteThread: (id: string): Promise<void> => send('DELETE', `/api/threads/${segment(id)}`),
  /** Returns the active branch, or the one that ends with `leaf`. */
  messages: (id: string, query: { leaf?: string } = {}): Promise<ThreadMessages> =>
    get(`/api/threads/${segment(id)}/messages`, { format: 'ui', ...query }),
  /** Returns canonical messages as JSON; decode them with `decodeMessage`. */
  canonicalMessages: (id: string): Promise<{ messages: JsonObject[] }> =>
    get(`/api/threads/${segment(id)}/messages`, { format: 'canonical' }),
  tree: (id: string): Promise<{ messages: TreeMessage[]; headId?: string }> => get(`/api/threads/${segment(id)}/tree`),
  runs: (id: string): Promise<{ runs: RunInfo[] }> => get(`/api/threads/${segment(id)}/runs`),

  run: (id: string, thread?: string): Promise<RunInfo> => get(`/api/runs/${segment(id)}`, { thread }),
  /** Returns what the run sent to models, if the server records it. */
  modelCalls: (id: string, thread?: string): Promise<{ calls: ModelCallInfo[] }> =>
    get(`/api/runs/${segment(id)}/model-calls`, { thread }),
  answer: (run: string, thread: string, answers: readonly AnswerInput[]): Promise<AnswerOutcome> =>
    send('POST', withQuery(`/api/runs/${segment(run)}/answers`, { thread }), { answers }),
  /** Returns the decisions of a thread in all states: answered ones name the user who answered. */
  questions: (thread: string): Promise<{ questions: Decision[] }> => get('/api/questions', { thread }),
  /** Returns the open decisions of all threads. */
  openQuestions: (): Promise<{ questions: OpenQuestion[] }> => get('/api/questions', { state: 'open' }),

  injectFault: (fault: WireFault): Promise<void> => send('POST', '/api/dev/wire', fault),

  urls: {
    chat: (agent: string): string => `/api/agents/${segment(agent)}/chat`,
    threadEvents: (id: string, since?: string): string => withQuery(`/api/threads/${segment(id)}/events`, { since }),
    threadExport: (id: string): string => `/api/threads/${segment(id)}/export`,
    /** `isLive: false` returns the stored events only; otherwise the stream stays open until the run ends. */
    runEvents: (
      run: string,
      thread: string | undefined,
      { after, isLive = true }: { after?: string | undefined; isLive?: boolean } = {},
    ): string => withQuery(`/api/runs/${segment(run)}/events`, { thread, after, live: isLive ? undefined : 'false' }),
    runFrames: (run: string, thread: string | undefined): string =>
      withQuery(`/api/runs/${segment(run)}/frames`, { thread }),
  },
};

type Query = { [key: string]: string | number | undefined };

function get<T>(path: string, query?: Query): Promise<T> {
  return request(withQuery(path, query), { headers: { accept: 'application/json' } }).then((response) =>
    readJson<T>(response),
  );
}

function send<T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T> {
  const init =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return request(path, { method, ...init }).then((response) => readJson<T>(response));
}

async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch {
    throw new ApiError(0, {
      code: 'unreachable',
      message: 'Cannot reach the server.',
      fix: 'Check that it is running.',
    });
  }
}

async function readJson<T>(response: Response): Promise<T> {
  if (!response.ok) throw await readError(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** Converts a failed response to an `ApiError`, with or without a JSON body. */
export async function readError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  return new ApiError(
    response.status,
    parseError(text) ?? { code: 'http', message: `The server returned status ${response.status}.` },
  );
}

function parseError(text: string): { code: string; message: string; fix?: string } | undefined {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; message?: string; fix?: string } };
    if (typeof error?.message !== 'string') return undefined;
    return { code: error.code ?? 'http', message: error.message, ...(error.fix !== undefined && { fix: error.fix }) };
  } catch {
    return undefined;
  }
}

/** Formats an error for display. The chat transport throws the server's JSON error as text. */
export function formatError(error: unknown): string {
  if (error instanceof ApiError) return error.fix === undefined ? error.message : `${error.message} ${error.fix}`;
  if (isNetworkError(error)) {
    return 'Cannot reach the server. Check that it is running.';
  }
  const text = error instanceof Error ? error.message : String(error);
  return parseError(text)?.message ?? text;
}

/** Whether the server was unreachable. `fetch` then rejects with a browser-specific TypeError. */
export function isNetworkError(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 0;
  return error instanceof TypeError && /fetch|network|load failed/i.test(error.message);
}

function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(key, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}

function segment(id: string): string {
  return encodeURIComponent(id);
}

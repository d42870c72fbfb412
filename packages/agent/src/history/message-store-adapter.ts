import {
  createInMemoryStore,
  StoreError,
  toFault,
  type CanonicalMessage,
  type EventOf,
  type Json,
  type RunRecord,
  type Store,
  type Thread,
} from '@intertie/core';
import { equalJson, pause } from '@intertie/core/internal';
import type { ListMessages, Registry, RunLog, StartRequest } from '@intertie/core/store';
import { readMessage } from '@intertie/core/store';
import type { MessageStore } from './message-store.ts';
import { FileResolver } from './file-resolver.ts';

/** Writes the messages of runs to a `MessageStore`, at the points where a failure can still end the run with an error. */
export type MessageStoreAdapter = {
  /** Complete store: messages in the `MessageStore`, runs in memory. */
  readonly store: Store;
  /** Saves the thread and the messages that the run responds to. Rejects if the `MessageStore` does. */
  savePrompt(run: RunRecord): Promise<void>;
  /** Saves the run's message. If that fails, returns the message and the end with an error. */
  saveResponse(message: CanonicalMessage, end: EventOf<'run-end'>): Promise<SavedResponse>;
};

export type SavedResponse = { message: CanonicalMessage; end: EventOf<'run-end'> };

/** Maximum duration of one call of the user's store. */
const timeoutMs = 30_000;
/** Pauses between attempts to save a response, which is expensive to produce again. */
const retryMs = [100, 400];

export function adaptMessageStore(messageStore: MessageStore): MessageStoreAdapter {
  const memory = createInMemoryStore();
  const { scope } = memory;
  const files = new FileResolver(memory.blobs, scope, () => undefined);
  /** Messages in memory that the user's store does not have, or has in an older version. */
  const unsaved = new Map<string, Set<string>>();
  /** Responses that `saveResponse` has tried to save, until their runs have ended. */
  const responses = new Map<string, CanonicalMessage | 'failed'>();
  /** The last start of each thread, for `serialize`. */
  const starts = new Map<string, Promise<unknown>>();

  const isUnsaved = ({ threadId, id }: CanonicalMessage): boolean => unsaved.get(threadId)?.has(id) ?? false;

  const markUnsaved = (threadId: string, ids: readonly string[]): void => {
    const known = unsaved.get(threadId);
    unsaved.set(threadId, new Set([...(known ?? []), ...ids]));
  };

  const markSaved = ({ threadId, id }: CanonicalMessage): void => {
    const known = unsaved.get(threadId);
    known?.delete(id);
    if (known?.size === 0) unsaved.delete(threadId);
  };

  const load = async (threadId: string, limit?: number): Promise<CanonicalMessage[]> => {
    const query = { threadId, orderBy: 'asc' as const, ...(limit !== undefined && { limit }) };
    const listed: unknown = await call('listMessages', () => messageStore.listMessages(query));
    if (!Array.isArray(listed)) {
      throw new StoreError(
        'invalid',
        'listMessages of the message store did not return an array. Return an array of messages.',
      );
    }
    const byId = new Map<string, CanonicalMessage>();
    for (const message of listed as CanonicalMessage[]) byId.set(message.id, readStored(message));
    const messages = [...byId.values()];
    return limit === undefined ? messages : messages.slice(-limit);
  };

  /** Messages of runs that have not ended, on the active branch in memory. */
  const loadPending = async (threadId: string): Promise<CanonicalMessage[]> => {
    const messages = await memory.listMessages({ threadId });
    return messages.filter(
      (message) => isUnsaved(message) || message.status === 'streaming' || message.status === 'paused',
    );
  };

  const save = async (messages: readonly CanonicalMessage[]): Promise<void> => {
    const whole = await files.resolveMessages([...messages]);
    await call('saveMessages', () => messageStore.saveMessages({ messages: whole }));
    for (const message of messages) markSaved(message);
  };

  /** Saves a message. After a failure it is saved before the next run of the thread. */
  const saveOrDefer = async (message: CanonicalMessage): Promise<void> => {
    markUnsaved(message.threadId, [message.id]);
    await save([message]).catch(() => undefined);
  };

  /** Saves messages that could not be saved when their runs ended. */
  const saveDeferred = async (threadId: string): Promise<void> => {
    const ids = [...(unsaved.get(threadId) ?? [])];
    const found = await Promise.all(ids.map((messageId) => memory.getMessage({ threadId, messageId })));
    const messages = found.filter((message) => message !== null);
    if (messages.length > 0) await save(messages);
  };

  const findThread = async (threadId: string): Promise<Thread | null> => {
    const [thread, own] = await Promise.all([
      call('getThreadById', () => messageStore.getThreadById({ threadId })),
      memory.getThreadById({ threadId }),
    ]);
    if (!thread) return own;
    const createdAt = new Date(thread.createdAt ?? own?.createdAt ?? 0);
    return { version: own?.version ?? 0, ...thread, createdAt, updatedAt: new Date(thread.updatedAt ?? createdAt) };
  };

  const createThread = async ({ threadId }: RunRecord): Promise<void> => {
    if (await call('getThreadById', () => messageStore.getThreadById({ threadId }))) return;
    const thread = await memory.getThreadById({ threadId });
    if (thread) await call('saveThread', () => messageStore.saveThread({ thread: omitHead(thread) }));
  };

  /** Makes the last message of the user's store the parent of the run's messages in memory. */
  const prepareStart = async (request: StartRequest): Promise<StartRequest> => {
    const { threadId } = request;
    const runs = await memory.registry.listRuns(scope, { threadId });
    if (runs.some(({ state }) => state === 'running' || state === 'queued')) return request;
    await saveDeferred(threadId);
    const head = (await load(threadId, 1)).at(-1);
    const asked = request.parentId === undefined ? request.message?.parentId : request.parentId;
    if (asked !== undefined && asked !== (head?.id ?? null)) {
      const text =
        `The run would follow message "${asked}", and the last message of thread "${threadId}" is "${head?.id}". ` +
        'A store with four methods has no branches. Answer the last message, or use createStore() of @intertie/postgres.';
      throw new StoreError('invalid', text);
    }
    if (head && !(await memory.getMessage({ threadId, messageId: head.id }))) {
      await memory.saveMessages({ messages: [{ ...head, parentId: null }] });
    }
    return { ...request, parentId: head?.id ?? null };
  };

  /** Runs the starts of one thread one after another, because each reads the end of the thread first. */
  const serialize = async <Result>(threadId: string, work: () => Promise<Result>): Promise<Result> => {
    const done = (starts.get(threadId) ?? Promise.resolve()).then(work, work);
    starts.set(threadId, done);
    try {
      return await done;
    } finally {
      if (starts.get(threadId) === done) starts.delete(threadId);
    }
  };

  const saveRunMessage = async ({ threadId, messageId }: RunRecord): Promise<void> => {
    const message = await memory.getMessage({ threadId, messageId });
    if (message) await saveOrDefer(message);
  };

  const registry: Registry = {
    ...memory.registry,

    start: (_, request) =>
      serialize(request.threadId, async () => {
        const result = await memory.registry.start(scope, await prepareStart(request));
        if (result.type !== 'started' && result.type !== 'queued') return result;
        const { threadId, messageId } = result.run;
        const response = await memory.getMessage({ threadId, messageId });
        const promptId = request.message && response?.parentId;
        const superseded = result.superseded.map((decision) => decision.messageId);
        markUnsaved(threadId, [...superseded, ...(promptId === undefined ? [] : [promptId]), messageId]);
        if (result.type === 'queued') return result;
        // These are not all messages of the thread: the user's store has the others.
        const { messages: _messages, ...started } = result;
        return started;
      }),

    async stop(_, key, reason) {
      const result = await memory.registry.stop(scope, key, reason);
      const run = result === 'aborted' || result === 'cancelled' ? await memory.registry.getRun(scope, key) : null;
      if (run) await saveRunMessage(run);
      return result;
    },

    async finish(key, epoch, end) {
      const result = await memory.registry.finish(key, epoch, end);
      if (result.result !== 'ok') return result;
      // A recovered run has not passed `saveResponse`, and late responses may change the content.
      const { message } = result;
      const saved = responses.get(message.id);
      responses.delete(message.id);
      if (saved !== 'failed' && !isSameResponse(saved, message)) await saveOrDefer(message);
      return result;
    },
  };

  const log: RunLog = {
    ...memory.log,

    async drop(keys) {
      const runs = await Promise.all(keys.map((key) => memory.registry.getRun(scope, key)));
      await memory.log.drop(keys);
      const threadIds = new Set(runs.flatMap((run) => (run ? [run.threadId] : [])));
      const saved = [...threadIds].filter((threadId) => !unsaved.has(threadId));
      await Promise.all(saved.map((threadId) => releaseThread(memory, threadId)));
    },
  };

  const store: Store = {
    ...getOptionalMethods(messageStore),
    scope,
    registry,
    log,
    hints: memory.hints,
    blobs: memory.blobs,
    close: () => Promise.resolve(),

    forScope(other) {
      if (other === scope) return store;
      const text =
        `A store with four methods has one scope, so scope "${other}" is not available. ` +
        'Create one agent and store per user, or use createStore() of @intertie/postgres.';
      throw new StoreError('invalid', text);
    },

    async listMessages(query) {
      const { threadId, limit, cursor, leafId } = query;
      const own = await loadPending(threadId);
      const isTail = cursor === undefined && (leafId === undefined || own.some(({ id }) => id === leafId));
      const stored = await load(threadId, isTail ? limit : undefined);
      return getPage(mergeById(stored, own), query);
    },

    async getMessage({ threadId, messageId }) {
      const own = await memory.getMessage({ threadId, messageId });
      return own ?? (await load(threadId)).find(({ id }) => id === messageId) ?? null;
    },

    async listSiblings(query) {
      const message = await store.getMessage(query);
      return message ? [message] : [];
    },

    async saveMessages({ messages }) {
      const read = messages.map((message) => readMessage(message));
      await save(read);
      return { messages: read, version: 0 };
    },

    getThreadById: ({ threadId }) => findThread(threadId),

    async saveThread({ thread: input }) {
      const before = await findThread(input.id);
      const now = new Date();
      const { hidden: wasHidden, ...known } = before ?? {};
      const { hidden = wasHidden, ...fields } = input;
      const shown = { version: 0, createdAt: now, ...known, ...fields, updatedAt: now };
      const thread: Thread = hidden ? { ...shown, hidden } : shown;
      if (await memory.getThreadById({ threadId: input.id })) {
        const { headId: _, ...changed } = input;
        await memory.saveThread({ thread: changed });
      }
      await call('saveThread', () => messageStore.saveThread({ thread: omitHead(thread) }));
      return thread;
    },

    getVersion: ({ threadId }) => memory.getVersion({ threadId }),
  };

  return {
    store,

    async savePrompt(run) {
      await createThread(run);
      const { threadId, messageId: leafId } = run;
      const branch = await memory.listMessages({ threadId, leafId });
      const asked = branch.filter((message) => message.id !== leafId && isUnsaved(message));
      if (asked.length > 0) await save(asked);
    },

    async saveResponse(message, end) {
      const response = { ...message, status: end.outcome };
      for (let attempt = 0; ; attempt++) {
        try {
          await save([response]);
          responses.set(message.id, response);
          return { message, end };
        } catch (error) {
          const waitMs = retryMs[attempt];
          if (waitMs === undefined) {
            responses.set(message.id, 'failed');
            return toFailedResponse(message, end, error);
          }
          await pause(waitMs);
        }
      }
    },
  };
}

/** Calls a method of the user's store. A failure or a call that takes too long has the code `store-failed`. */
async function call<Result>(method: keyof MessageStore, work: () => Result | Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} seconds`)), timeoutMs);
  });
  try {
    return await Promise.race([(async () => work())(), late]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw Object.assign(new Error(`The message store failed in ${method}: ${reason}`, { cause: error }), {
      code: 'store-failed',
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a message of the user's store, which may store times as text. */
function readStored(message: CanonicalMessage): CanonicalMessage {
  try {
    return readMessage({ ...message, createdAt: new Date(message.createdAt) });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new StoreError(
      'invalid',
      `listMessages of the message store returned the invalid message "${message.id}": ${error.message}`,
    );
  }
}

function mergeById(stored: readonly CanonicalMessage[], own: readonly CanonicalMessage[]): CanonicalMessage[] {
  const byId = new Map(stored.map((message) => [message.id, message]));
  for (const message of own) byId.set(message.id, message);
  let parentId: string | undefined;
  return Array.from(byId.values(), (message) => {
    const linked = parentId === undefined || message.parentId !== undefined ? message : { ...message, parentId };
    parentId = message.id;
    return linked;
  });
}

/** Returns a page of a thread without branches. `leafId` is the last message. */
function getPage(messages: CanonicalMessage[], { limit, orderBy, cursor, leafId }: ListMessages): CanonicalMessage[] {
  const indexOf = (id: string): number => {
    const index = messages.findIndex((message) => message.id === id);
    if (index >= 0) return index;
    throw new StoreError('not-found', `The thread has no message "${id}". List it again from its end.`);
  };
  const end = leafId === undefined ? messages.length : indexOf(leafId) + 1;
  const after = cursor && 'after' in cursor ? indexOf(cursor.after) + 1 : 0;
  const before = cursor && 'before' in cursor ? indexOf(cursor.before) : end;
  const page = messages.slice(after, Math.min(before, end));
  const cut = limit === undefined ? page : after > 0 ? page.slice(0, limit) : page.slice(-limit);
  return orderBy === 'desc' ? cut.toReversed() : cut;
}

/** The head may be a message that is not saved yet. */
function omitHead(thread: Thread): Thread {
  const { headId: _, ...rest } = thread;
  return rest;
}

function isSameResponse(saved: CanonicalMessage | undefined, { content, status }: CanonicalMessage): boolean {
  return saved?.status === status && equalJson(saved?.content as unknown as Json, content as unknown as Json);
}

function toFailedResponse(
  message: CanonicalMessage,
  { at, usage }: EventOf<'run-end'>,
  reason: unknown,
): SavedResponse {
  const error = toFault(reason, 'store-failed');
  const end: EventOf<'run-end'> = {
    type: 'run-end',
    outcome: 'error',
    error,
    ...(at !== undefined && { at }),
    ...(usage && { usage }),
  };
  const runs = message.content.runs?.map((run) =>
    run.runId === message.runId
      ? { runId: run.runId, outcome: 'error' as const, error, ...(run.usage && { usage: run.usage }) }
      : run,
  );
  return { message: { ...message, content: { ...message.content, ...(runs && { runs }) } }, end };
}

/** Frees the memory of a thread whose runs have ended and whose logs are dropped. The user's store has its messages. */
async function releaseThread(memory: Store, threadId: string): Promise<void> {
  const { registry, log, scope } = memory;
  const runs = await registry.listRuns(scope, { threadId });
  const open = await registry.listDecisions(scope, { threadId, state: 'open' });
  if (open.length > 0 || runs.some(({ state }) => state === 'running' || state === 'queued')) return;
  const pages = await Promise.all(runs.map(({ key }) => log.read(key, { epoch: 0, seq: 0 }, 1)));
  if (pages.every(({ dropped }) => dropped)) await memory.deleteThread({ threadId });
}

const optionalMethods = [
  'listChanges',
  'deleteMessage',
  'searchMessages',
  'listThreads',
  'deleteThread',
  'exportAll',
  'purgeAll',
] as const;

/** Methods of `MemoryStore` that a `MessageStore` may have. Missing methods throw. */
function getOptionalMethods(messageStore: MessageStore): Pick<Store, (typeof optionalMethods)[number]> {
  const methods = optionalMethods.map((name) => {
    const method: unknown = Reflect.get(messageStore, name);
    const refuse = (): never => {
      throw new StoreError(
        'invalid',
        `The message store has no method ${name}. Add it, or use createStore() of @intertie/postgres.`,
      );
    };
    return [name, typeof method === 'function' ? method.bind(messageStore) : refuse];
  });
  return Object.fromEntries(methods) as Pick<Store, (typeof optionalMethods)[number]>;
}

import { Chat } from '@ai-sdk/react';
import { generateId } from '@intertie/core';
import type { Decision } from '@intertie/core/store';
import type { FileUIPart, UIMessage } from 'ai';
import {
  api,
  ApiError,
  formatError,
  isNetworkError,
  type AnswerInput,
  type Branches,
  type LiveRun,
} from '../../api.ts';
import { notifyThreadsChanged } from '../../thread-changes.ts';
import { AgentTransport } from './agent-transport.ts';
import { findNewestLeaf } from './find-newest-leaf.ts';
import { getMessageMetadata } from '../../intertie-metadata.ts';
import { followThread, type ThreadPosition } from './follow-thread.ts';
import { getFiles, getText } from '../message/message-content.ts';
import { watchConnection, type ConnectionLogEntry } from './connection-log.ts';

export type SessionState = {
  /** `missing`: the thread does not exist. */
  status: 'loading' | 'ready' | 'missing' | 'failed';
  error?: string | undefined;
  branches: Branches;
  /** Agent of each answer, by message id. */
  authors: { readonly [messageId: string]: string };
  /** Open questions and client tools of the thread. */
  decisions: readonly Decision[];
  live?: LiveRun;
  /** Agent that answers next. */
  agent: string | undefined;
  /** No message was sent yet, so the server does not know the thread. */
  isNew: boolean;
  connectionLog: readonly ConnectionLogEntry[];
  /** Messages that are sent one after the other when the current answer has ended. */
  queued: readonly Draft[];
  /** User who answered each question or client tool, by its id. */
  answeredBy: { readonly [id: string]: string };
};

export type Draft = { text: string; files: FileUIPart[] };

/**
 * Client state of one thread: an AI SDK `Chat` that is kept in sync with the server. Reads runs of any origin: this page, another
 * tab, or another client. While no answer streams, the messages are those of the server.
 */
export class ThreadSession {
  readonly threadId: string;
  readonly chat: Chat<UIMessage>;
  #state: SessionState;
  #listeners = new Set<() => void>();
  #following: AbortController | undefined;
  #isOpen = false;
  #refreshes = 0;
  /** Run whose stream was read to its end here. The server may still report it as live. */
  #readRun: string | undefined;
  /** Key of the last message when a request failed. */
  #failedAt: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(threadId: string, { isNew, agent }: { isNew: boolean; agent?: string }) {
    this.threadId = threadId;
    this.#state = {
      status: isNew ? 'ready' : 'loading',
      branches: {},
      authors: {},
      decisions: [],
      agent,
      isNew,
      connectionLog: [],
      queued: readQueue(threadId),
      answeredBy: {},
    };
    const log = (entry: ConnectionLogEntry): void => {
      this.#set({ connectionLog: [...this.#state.connectionLog.slice(-40), entry] });
      if (entry.type === 'open') this.#markSent();
    };
    this.chat = new Chat<UIMessage>({
      id: threadId,
      generateId,
      transport: new AgentTransport(() => this.#state.live?.agent ?? this.#state.agent, watchConnection(log)),
      onFinish: ({ message, messages, isError }) => {
        if (isError) this.#failedAt = getEndKey(messages);
        this.#readRun = getMessageMetadata(message).runId;
        this.#set({ live: undefined });
        this.#refreshSoon(0);
        notifyThreadsChanged();
      },
    });
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  snapshot = (): SessionState => this.#state;

  /** Follows the thread until the returned function is called. An answer that is streaming is read to its end in any case. */
  open(): () => void {
    this.#isOpen = true;
    const onOnline = (): void => void this.refresh();
    globalThis.window?.addEventListener('online', onOnline);
    if (!this.#state.isNew) this.#follow();
    return () => {
      this.#isOpen = false;
      globalThis.window?.removeEventListener('online', onOnline);
      this.#following?.abort();
      this.#following = undefined;
    };
  }

  chooseAgent(agent: string): void {
    this.#set({ agent });
  }

  /** Selects the agent unless one was selected before. */
  suggestAgent(agent: string): void {
    if (this.#state.agent === undefined) this.#set({ agent });
  }

  /** Sends a message after the current answer. */
  enqueue(draft: Draft): void {
    this.#setQueue([...this.#state.queued, draft]);
  }

  /** Stops the current answer, then sends a message. */
  replace(draft: Draft): void {
    this.#setQueue([draft, ...this.#state.queued]);
    this.stop();
  }

  /** Removes a queued message and returns it. */
  dequeue(index: number): Draft | undefined {
    const { queued } = this.#state;
    this.#setQueue(queued.toSpliced(index, 1));
    return queued[index];
  }

  /** Sends the first queued message now, also if a question is open or the last answer failed. */
  sendQueued(): void {
    const draft = this.isBusy ? undefined : this.dequeue(0);
    if (draft) this.send(draft);
  }

  send({ text, files }: Draft): void {
    void this.chat.sendMessage({ text, files });
  }

  edit(messageId: string, { text, files }: Draft): void {
    void this.chat.sendMessage({ text, files, messageId });
  }

  /** Sends a message again with another text or agent, as a branch. Returns the reason if it is not possible now. */
  async runAgain(messageId: string, { text, agent }: { text: string; agent: string }): Promise<string | undefined> {
    if (this.isBusy) return 'An answer is being written. Wait for its end, or stop it.';
    const find = (): UIMessage | undefined => this.chat.messages.find(({ id }) => id === messageId);
    try {
      if (!find()) await this.showBranch(messageId);
    } catch (error) {
      return formatError(error);
    }
    const message = find();
    if (!message) return 'The message of this run was deleted.';
    this.chooseAgent(agent);
    this.edit(messageId, { text, files: getFiles(message) });
    return undefined;
  }

  /** Generates the last answer, or the given one, again. */
  regenerate(messageId?: string): void {
    void this.chat.regenerate(messageId === undefined ? {} : { messageId });
  }

  /** Retries after a failure: sends the last message again if the server does not have it, otherwise regenerates. */
  async retry(): Promise<void> {
    const { messages } = this.chat;
    const last = messages.at(-1);
    if (last?.role !== 'user') return this.regenerate();
    const stored = this.#state.isNew ? [] : (await api.messages(this.threadId)).messages;
    if (stored.some(({ id }) => id === last.id)) return this.regenerate();
    this.chat.messages = messages.slice(0, -1);
    this.send({ text: getText(last), files: getFiles(last) });
  }

  stop(): void {
    void this.chat.stop();
  }

  /** Answers questions of a run. Returns the reason if an answer was rejected. */
  async answer(runId: string, answers: readonly AnswerInput[]): Promise<string | undefined> {
    try {
      const { verdicts, open, run } = await api.answer(runId, this.threadId, answers);
      this.#set({ decisions: open });
      const rejected = verdicts.find(({ result }) => result !== 'accepted' && result !== 'duplicate');
      this.#readRun = undefined;
      if (run !== undefined && !this.isBusy) void this.chat.resumeStream();
      else this.#refreshSoon(0);
      return rejected && (verdictTexts[rejected.result] ?? rejected.result);
    } catch (error) {
      return formatError(error);
    }
  }

  /** Shows the newest branch through a message. */
  async showBranch(messageId: string): Promise<void> {
    const { messages } = await api.tree(this.threadId);
    await this.showLeaf(findNewestLeaf(messages, messageId));
  }

  /** Shows the branch that ends with a message; the next message follows it. */
  async showLeaf(messageId: string): Promise<void> {
    await api.editThread(this.threadId, { headId: messageId });
    await this.refresh();
  }

  get isBusy(): boolean {
    return this.chat.status === 'submitted' || this.chat.status === 'streaming';
  }

  /**
   * Reads the thread from the server. Does nothing while an answer streams, which is newer than the stored messages. Calls `onRead`
   * with what the thread's events continue after, as soon as it is known.
   */
  async refresh(onRead?: (position: ThreadPosition | undefined) => void): Promise<void> {
    if (this.isBusy || this.#state.isNew) return onRead?.(undefined);
    this.#refreshes += 1;
    const refresh = this.#refreshes;
    try {
      const [{ messages, branches, version, live }, { questions }, { runs }] = await Promise.all([
        api.messages(this.threadId),
        api.questions(this.threadId),
        api.runs(this.threadId),
      ]);
      onRead?.({ version, live });
      if (refresh !== this.#refreshes || this.isBusy) return;
      const authors = Object.fromEntries(runs.map(({ messageId, agent }) => [messageId, agent]));
      const decisions = questions.filter(({ state }) => state === 'open');
      const answeredBy = Object.fromEntries(
        questions.flatMap(({ id, answeredBy: by }) => (by === undefined ? [] : [[id, by]])),
      );
      this.#set({ status: 'ready', error: undefined, branches, authors, decisions, answeredBy, live });
      // The response does not contain the message of a live run: keep the one that was read here.
      if (live !== undefined && live.runId === this.#readRun) return;
      const unsent = this.chat.status === 'error' ? findUnsent(this.chat.messages, messages) : [];
      this.chat.messages = [...reuseUnchanged(this.chat.messages, messages), ...unsent];
      this.#clearOutdatedError(unsent.length > 0);
      if (live !== undefined) await this.chat.resumeStream();
      else this.#sendNext();
    } catch (error) {
      onRead?.(undefined);
      if (refresh !== this.#refreshes) return;
      const isMissing = error instanceof ApiError && error.status === 404;
      this.#set({ status: isMissing ? 'missing' : 'failed', error: formatError(error) });
    }
  }

  /**
   * Clears a connection error once the server answers again, or if there are newer messages: the message of a run has its own
   * status. An unsent message keeps its error, so that it can be sent again.
   */
  #clearOutdatedError(hasUnsent: boolean): void {
    if (this.chat.status !== 'error') return;
    const isReconnected = !hasUnsent && isNetworkError(this.chat.error);
    if (isReconnected || getEndKey(this.chat.messages) !== this.#failedAt) this.chat.clearError();
  }

  /** Sends the next queued message, unless a question is open or the last answer failed. */
  #sendNext(): void {
    const last = this.chat.messages.at(-1);
    const hasFailed = this.chat.status !== 'ready' || (last && getMessageMetadata(last).status === 'error');
    if (!hasFailed && this.#state.decisions.length === 0 && this.#state.queued.length > 0) this.sendQueued();
  }

  #setQueue(queued: readonly Draft[]): void {
    this.#set({ queued });
    saveQueue(this.threadId, queued);
  }

  #markSent(): void {
    const { isNew } = this.#state;
    if (isNew) this.#set({ isNew: false });
    // The first message creates the thread, and every message ends the wait of a paused one.
    notifyThreadsChanged();
    if (isNew && this.#isOpen) this.#follow();
  }

  #follow(): void {
    if (this.#following !== undefined) return;
    this.#following = new AbortController();
    followThread({
      threadId: this.threadId,
      position: new Promise((resolve) => void this.refresh(resolve)),
      onChange: (change) => {
        if (change.type === 'live' && change.live?.runId !== this.#readRun) this.#readRun = undefined;
        this.#refreshSoon(change.type === 'live' ? 0 : 120);
      },
      signal: this.#following.signal,
    });
  }

  #refreshSoon(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), ms);
  }

  #set(change: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Queued messages survive a reload of the tab. */
function readQueue(threadId: string): Draft[] {
  try {
    return JSON.parse(sessionStorage.getItem(`intertie:queue:${threadId}`) ?? '[]') as Draft[];
  } catch {
    return [];
  }
}

function saveQueue(threadId: string, queued: readonly Draft[]): void {
  try {
    if (queued.length === 0) sessionStorage.removeItem(`intertie:queue:${threadId}`);
    else sessionStorage.setItem(`intertie:queue:${threadId}`, JSON.stringify(queued));
  } catch {
    // Storage is blocked, or files exceed its quota: the queue lasts as long as the page.
  }
}

/** Identifies the last message and the status of an answer. */
function getEndKey(messages: readonly UIMessage[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? `${last.id} ${getMessageMetadata(last).status}` : last?.id;
}

/** Returns the last message if it never reached the server, so that it can be sent again. */
function findUnsent(shown: readonly UIMessage[], stored: readonly UIMessage[]): UIMessage[] {
  const last = shown.at(-1);
  return last?.role === 'user' && !stored.some(({ id }) => id === last.id) ? [last] : [];
}

/** Returns the stored messages, with the shown objects for those that are equal, so that React does not render them again. */
function reuseUnchanged(shown: readonly UIMessage[], stored: readonly UIMessage[]): UIMessage[] {
  const known = new Map(shown.map((message) => [message.id, message]));
  return stored.map((message) => {
    const before = known.get(message.id);
    return before !== undefined && JSON.stringify(before) === JSON.stringify(message) ? before : message;
  });
}

const verdictTexts: { readonly [result: string]: string } = {
  conflict: 'This question already has a different answer.',
  cancelled: 'The question was cancelled because the conversation continued.',
  expired: 'The question has expired.',
  unknown: 'The run is not waiting for this answer.',
};

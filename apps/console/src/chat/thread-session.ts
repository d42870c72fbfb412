import { Chat } from '@ai-sdk/react';
import { generateId, type Decision } from '@intertie/core';
import type { FileUIPart, UIMessage } from 'ai';
import { api, ApiError, messageOf, type AnswerInput, type Branches, type LiveRun } from '../api.ts';
import { tellThreads } from '../threads/thread-news.ts';
import { AgentTransport } from './agent-transport.ts';
import { newestLeaf } from './newest-leaf.ts';
import { reconcile } from './reconcile.ts';
import { messageSlotOf } from './slot.ts';
import { listenToThread } from './thread-feed.ts';
import { filesOf, textOf } from './turns.ts';
import { watchWire, type WireNote } from './wire-log.ts';

export type SessionState = {
  /** `missing`: there is no such thread. */
  status: 'loading' | 'ready' | 'missing' | 'failed';
  error?: string;
  branches: Branches;
  /** Who wrote an answer, by its message. */
  authors: { readonly [messageId: string]: string };
  /** What the thread waits for. */
  decisions: readonly Decision[];
  live?: LiveRun;
  /** Who answers next. */
  agent: string | undefined;
  /** Nothing was sent yet, so the server does not know of it. */
  isNew: boolean;
  wire: readonly WireNote[];
};

export type Draft = { text: string; files: FileUIPart[] };

/**
 * One thread as this page has it: a `Chat` of the AI SDK that the server's truth is brought to. Whoever starts a run, here, in
 * another tab or with curl, it is read here; and when nothing is being written, the messages are what the server says.
 */
export class ThreadSession {
  readonly threadId: string;
  readonly chat: Chat<UIMessage>;
  #state: SessionState;
  #listeners = new Set<() => void>();
  #feed: AbortController | undefined;
  #isOpen = false;
  #refreshes = 0;
  /** The run whose stream has been read to its end here, though the server may not have said yet that it is over. */
  #readRun: string | undefined;
  /** Where the chat ended when its last request failed. */
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
      wire: [],
    };
    const note = (next: WireNote): void => {
      this.#set({ wire: [...this.#state.wire.slice(-40), next] });
      if (next.type === 'open') this.#begun();
    };
    this.chat = new Chat<UIMessage>({
      id: threadId,
      generateId,
      transport: new AgentTransport(() => this.#state.live?.agent ?? this.#state.agent, watchWire(note)),
      onFinish: ({ message, messages, isError }) => {
        if (isError) this.#failedAt = endOf(messages);
        this.#readRun = messageSlotOf(message).runId;
        this.#set({ live: undefined });
        this.#refreshSoon(0);
        tellThreads();
      },
    });
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  snapshot = (): SessionState => this.#state;

  /** The page shows the thread from now on, until the function that is returned is called. An answer is read on regardless. */
  open(): () => void {
    this.#isOpen = true;
    if (!this.#state.isNew) this.#listen();
    return () => {
      this.#isOpen = false;
      this.#feed?.abort();
      this.#feed = undefined;
    };
  }

  chooseAgent(agent: string): void {
    this.#set({ agent });
  }

  /** Whose the thread was last: they answer next, unless somebody else was chosen. */
  suggestAgent(agent: string): void {
    if (this.#state.agent === undefined) this.#set({ agent });
  }

  send({ text, files }: Draft): void {
    void this.chat.sendMessage({ text, files });
  }

  edit(messageId: string, { text, files }: Draft): void {
    void this.chat.sendMessage({ text, files, messageId });
  }

  /** Answers again: the last message, or the one that is named. */
  regenerate(messageId?: string): void {
    void this.chat.regenerate(messageId === undefined ? {} : { messageId });
  }

  /** Asks again after a failure: what arrived is answered again, what never did is sent again. */
  async retry(): Promise<void> {
    const { messages } = this.chat;
    const last = messages.at(-1);
    if (last?.role !== 'user') return this.regenerate();
    const kept = this.#state.isNew ? [] : (await api.messages(this.threadId)).messages;
    if (kept.some(({ id }) => id === last.id)) return this.regenerate();
    this.chat.messages = messages.slice(0, -1);
    this.send({ text: textOf(last), files: filesOf(last) });
  }

  stop(): void {
    void this.chat.stop();
  }

  /** Answers what a run waits for. What the server has to say against it, if anything. */
  async answer(runId: string, answers: readonly AnswerInput[]): Promise<string | undefined> {
    try {
      const { verdicts, open, run } = await api.answer(runId, this.threadId, answers);
      this.#set({ decisions: open });
      const refused = verdicts.find(({ result }) => result !== 'accepted' && result !== 'duplicate');
      this.#readRun = undefined;
      if (run !== undefined && !this.isBusy) void this.chat.resumeStream();
      else this.#refreshSoon(0);
      return refused && (verdictTexts[refused.result] ?? refused.result);
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Shows the branch that goes through a message. */
  async showBranch(messageId: string): Promise<void> {
    const { messages } = await api.tree(this.threadId);
    await this.showLeaf(newestLeaf(messages, messageId));
  }

  /** Shows the branch that ends with a message; what is said next follows it. */
  async showLeaf(messageId: string): Promise<void> {
    await api.editThread(this.threadId, { headId: messageId });
    await this.refresh();
  }

  get isBusy(): boolean {
    return this.chat.status === 'submitted' || this.chat.status === 'streaming';
  }

  /** Takes over what the server says, unless an answer is being read: then that is the newest there is. */
  async refresh(): Promise<void> {
    if (this.isBusy || this.#state.isNew) return;
    this.#refreshes += 1;
    const turn = this.#refreshes;
    try {
      const [{ messages, branches, live }, { questions }, { runs }] = await Promise.all([
        api.messages(this.threadId),
        api.questions(this.threadId),
        api.runs(this.threadId),
      ]);
      if (turn !== this.#refreshes || this.isBusy) return;
      const authors = Object.fromEntries(runs.map(({ messageId, agent }) => [messageId, agent]));
      this.#set({ status: 'ready', branches, authors, decisions: questions, live });
      // The message of a live run is left out; where it has been read already, it stays.
      if (live !== undefined && live.runId === this.#readRun) return;
      const unsent = this.chat.status === 'error' ? unsentOf(this.chat.messages, messages) : [];
      this.chat.messages = [...reconcile(this.chat.messages, messages), ...unsent];
      this.#forgetFailure();
      if (live !== undefined) await this.chat.resumeStream();
    } catch (error) {
      if (turn !== this.#refreshes) return;
      const isMissing = error instanceof ApiError && error.status === 404;
      this.#set({ status: isMissing ? 'missing' : 'failed', error: messageOf(error) });
    }
  }

  /** The connection failed and the run did not: there is more than there was then, and it says itself how it ended. */
  #forgetFailure(): void {
    if (this.chat.status === 'error' && endOf(this.chat.messages) !== this.#failedAt) this.chat.clearError();
  }

  #begun(): void {
    if (!this.#state.isNew) return;
    this.#set({ isNew: false });
    tellThreads();
    if (this.#isOpen) this.#listen();
  }

  #listen(): void {
    if (this.#feed !== undefined) return;
    this.#feed = new AbortController();
    listenToThread(
      this.threadId,
      (news) => {
        if (news.type === 'live' && news.live?.runId !== this.#readRun) this.#readRun = undefined;
        this.#refreshSoon(news.type === 'live' ? 0 : 120);
      },
      this.#feed.signal,
    );
    void this.refresh();
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

/** The last message, and how far an answer has come. */
function endOf(messages: readonly UIMessage[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? `${last.id} ${messageSlotOf(last).status}` : last?.id;
}

/** What was written here and never arrived: it stays, to be sent again. */
function unsentOf(shown: readonly UIMessage[], kept: readonly UIMessage[]): UIMessage[] {
  const last = shown.at(-1);
  return last?.role === 'user' && !kept.some(({ id }) => id === last.id) ? [last] : [];
}

const verdictTexts: { readonly [result: string]: string } = {
  conflict: 'Somebody else has answered otherwise.',
  cancelled: 'It is not asked any more: the conversation went on.',
  expired: 'The time to answer is over.',
  unknown: 'The run does not wait for this.',
};

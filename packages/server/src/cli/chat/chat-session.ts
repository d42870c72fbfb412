import {
  generateId,
  iterate,
  MessageList,
  type AgentEvent,
  type AgentSource,
  type Answer,
  type CanonicalMessage,
  type RunInput,
} from '@intertie/core';
import { defined } from '@intertie/core/internal';
import { collectDecisions, type DecisionRequest, type ToolAnswer } from '@intertie/core/store';

/** Runs one conversation with a source and holds its messages in memory. */
export class ChatSession {
  readonly threadId: string;
  readonly source: AgentSource;
  #list: MessageList;
  #now: () => number;
  /** Decisions that the last run waits for. */
  waiting: DecisionRequest[] = [];

  constructor(source: AgentSource, options: { threadId?: string; now: () => number; messages?: CanonicalMessage[] }) {
    this.source = source;
    this.threadId = options.threadId ?? generateId();
    this.#now = options.now;
    this.#list = new MessageList({ messages: options.messages ?? [] });
  }

  get messages(): CanonicalMessage[] {
    return this.#list.messages;
  }

  /** Adds a user message and runs the source. */
  send(text: string, signal: AbortSignal): AsyncIterable<AgentEvent> {
    const before = this.messages;
    const createdAt = new Date(this.#now());
    const parentId = before.at(-1)?.id;
    this.#list.add({
      id: generateId(),
      threadId: this.threadId,
      role: 'user',
      type: 'text',
      content: { format: 2, parts: [{ type: 'text', text }] },
      createdAt,
      ...defined({ parentId }),
    });
    const lastAnswer = before.findLast(({ role }) => role === 'assistant');
    return this.#run({ ...this.newRun(), ...getState(lastAnswer) }, signal);
  }

  /** Continues the last message with the answers to its questions. */
  answer(answers: Array<Answer | ToolAnswer>, signal: AbortSignal): AsyncIterable<AgentEvent> {
    const history = this.messages;
    const last = history.pop() as CanonicalMessage;
    const { parentId, runId, content: message } = last;
    const run = this.newRun(history);
    const ids = { messageId: last.id, resumes: runId ?? last.id, ...defined({ parentMessageId: parentId }) };
    return this.#run({ ...run, ...ids, message, answers, ...getState(last) }, signal);
  }

  /** Reads a run that another client started. */
  follow(stream: ReadableStream<AgentEvent>): AsyncIterable<AgentEvent> {
    return this.#read(stream);
  }

  newRun(history: CanonicalMessage[] = this.messages): RunInput {
    const parentMessageId = history.at(-1)?.id;
    return {
      runId: generateId(),
      threadId: this.threadId,
      messageId: generateId(),
      ...defined({ parentMessageId }),
      startedAt: this.#now(),
      history,
      answers: [],
      tools: [],
      context: [],
    };
  }

  #run(run: RunInput, signal: AbortSignal): AsyncIterable<AgentEvent> {
    return this.#read(this.source.run(run, { signal, barrier: async () => undefined, liveAnswers: noLiveAnswers() }));
  }

  async *#read(stream: ReadableStream<AgentEvent>): AsyncGenerator<AgentEvent> {
    this.waiting = [];
    for await (const event of iterate(stream)) {
      this.#list.feed(event);
      const { message } = event.type === 'run-end' ? this.#list : {};
      if (event.type === 'run-end' && message) this.waiting = collectDecisions(event, message.content);
      yield event;
    }
  }
}

function getState(message: CanonicalMessage | undefined): Pick<RunInput, 'state' | 'sourceState'> {
  return defined({ state: message?.state, sourceState: message?.sourceState });
}

/** Questions are lastAnswer after the run has ended, by the next run. */
async function* noLiveAnswers(): AsyncGenerator<Answer> {}

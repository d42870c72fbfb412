import { fromUIMessages } from '@intertie/ai-sdk';
import type { AgentEvent, CanonicalMessage } from '@intertie/core';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { paintFor, type Paint } from '../paint.ts';
import { printable } from '../printable.ts';
import { createServerClient } from '../server-client.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import { askPerson } from './ask-user.ts';
import { ChatSession } from './chat-session.ts';
import { findChatTarget, type ChatTarget, type ChatTargetOptions } from './chat-target.ts';
import type { ChatTerminal } from './chat-terminal.ts';
import { ChatView } from './chat-view.ts';

export interface ChatOptions extends ChatTargetOptions {
  /** Said first; with nobody at the keyboard, and nothing piped in, that is all. */
  message?: string | undefined;
  /** The conversation to go on with, on an Intertie server. */
  thread?: string | undefined;
  reasoning?: boolean | undefined;
}

const help = `  /reasoning  what was thought last; and from now on, as it is thought
  /new        a new conversation
  /exit       leave (Ctrl-D does too)
`;

/** A conversation in the terminal. Gives the exit code. */
export async function chat(options: ChatOptions, io: ToolIO, terminal: ChatTerminal): Promise<ToolExit> {
  const paint = paintFor(io.stdout, io.env);
  const target = await findChatTarget(options, io);
  const view = new ChatView({ out: io.stdout, paint, showReasoning: options.reasoning === true });
  const talk = new Conversation(target, { io, terminal, view, paint });
  if (io.stdout.isTerminal) {
    await io.stdout.write(
      `${paint('bold', printable(target.label))}\n${paint('dim', '/help, Ctrl-C stops an answer, Ctrl-D leaves')}\n\n`,
    );
  }
  try {
    if (options.thread !== undefined) await talk.resume(options.thread, options);
    if (options.message !== undefined) {
      await talk.say(options.message);
      if (!io.stdin.isTerminal) return talk.lastOutcome === 'error' ? exitCodes.found : exitCodes.ok;
    }
    await talk.goOn();
  } finally {
    terminal.close();
  }
  return talk.lastOutcome === 'error' && !io.stdin.isTerminal ? exitCodes.found : exitCodes.ok;
}

interface Surroundings {
  io: ToolIO;
  terminal: ChatTerminal;
  view: ChatView;
  paint: Paint;
}

class Conversation {
  lastOutcome: string | undefined;
  #target: ChatTarget;
  #around: Surroundings;
  #session: ChatSession;
  #hasLeft = false;

  constructor(target: ChatTarget, around: Surroundings) {
    this.#target = target;
    this.#around = around;
    this.#session = new ChatSession(target.source, { now: around.io.now });
  }

  /** Until there are no more lines. */
  async goOn(): Promise<void> {
    const { terminal, paint } = this.#around;
    while (!this.#hasLeft) {
      const line = await terminal.ask(paint('bold', '› '));
      if (line === undefined || /^\/(?:exit|quit|q)$/.test(line.trim())) return;
      if (line.trim() !== '') await this.#take(line.trim());
    }
  }

  async #take(line: string): Promise<void> {
    const { view, paint } = this.#around;
    if (!/^\/[a-z]+$/.test(line)) return this.say(line);
    switch (line) {
      case '/help':
        return view.note(help.trimEnd());
      case '/new':
        this.#session = new ChatSession(this.#target.source, { now: this.#around.io.now });
        return view.note(paint('dim', '  a new conversation'));
      case '/reasoning':
        view.showReasoning = true;
        return view.note(paint('dim', printable(view.lastReasoning, '\n') || '  nothing has been thought yet'));
      default:
        return view.note(paint('yellow', `  There is no ${line}.`) + `\n${help.trimEnd()}`);
    }
  }

  async say(text: string): Promise<void> {
    await this.#turn((signal) => this.#session.send(text, signal));
    await this.#answerQuestions();
  }

  /** Takes up a conversation of the server’s, and the answer that it is being given right now. */
  async resume(threadId: string, options: ChatOptions): Promise<void> {
    const { server } = this.#target;
    if (!server) throw new ToolError('usage', 'Only an Intertie server keeps conversations.', 'Leave out --thread.');
    const { io, view, paint } = this.#around;
    const client = createServerClient({ ...options, server: server.origin }, io);
    const said = asFields(await client.get(`/api/threads/${encodeURIComponent(threadId)}/messages?format=ui`));
    const messages = fromUIMessages(Array.isArray(said.messages) ? said.messages : [], { threadId });
    this.#session = new ChatSession(this.#target.source, { now: io.now, threadId, messages });
    for (const message of messages.slice(-6)) view.note(paint('dim', summaryOf(message)));
    const { runId, messageId } = asFields(said.live);
    if (asNonEmptyText(messageId) === undefined) return;
    const run = { ...this.#session.newRun(), messageId: String(messageId), runId: String(runId) };
    await this.#turn(async (signal) => {
      const stream = await server.source.reattach(run, signal);
      return stream ? this.#session.follow(stream) : nothing();
    });
    await this.#answerQuestions();
  }

  async #answerQuestions(): Promise<void> {
    while (this.#session.waiting.length > 0 && !this.#hasLeft) {
      const answers = await askPerson(this.#session.waiting, { ...this.#around, describe: (id) => this.#describe(id) });
      if (!answers) return this.#around.view.note(this.#around.paint('dim', '  (left open)'));
      await this.#turn((signal) => this.#session.answer(answers, signal));
    }
  }

  /** One run, which Ctrl-C stops. A second one leaves. */
  async #turn(
    start: (signal: AbortSignal) => AsyncIterable<AgentEvent> | Promise<AsyncIterable<AgentEvent>>,
  ): Promise<void> {
    const { terminal, view } = this.#around;
    const stop = new AbortController();
    const release = terminal.onInterrupt(() => {
      if (stop.signal.aborted) this.#hasLeft = true;
      stop.abort({ by: 'user' });
    });
    try {
      for await (const event of await start(stop.signal)) {
        view.feed(event);
        if (event.type === 'run-end') this.lastOutcome = event.outcome;
        if (this.#hasLeft) return;
      }
    } finally {
      release();
    }
  }

  #describe(toolCallId: string | undefined): string | undefined {
    const { paint } = this.#around;
    const parts = this.#session.messages.at(-1)?.content.parts ?? [];
    for (const part of parts) {
      if (part.type !== 'tool-invocation' || part.toolCallId !== toolCallId) continue;
      return `${paint('bold', printable(part.toolName))} ${paint('dim', printable(JSON.stringify(part.args) ?? ''))}`;
    }
    return undefined;
  }
}

function summaryOf({ role, content }: CanonicalMessage): string {
  const text = content.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  return `${role === 'user' ? '› ' : '  '}${printable(text.slice(0, 200))}`;
}

async function* nothing(): AsyncGenerator<AgentEvent> {
  // The run has ended in the meantime; its message is in the history.
}

import type { AgentEvent, CanonicalMessage } from '@intertie/core';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { decodeServerMessages, serverProtocol } from '../../protocols.ts';
import { paintFor, type Paint } from '../paint.ts';
import { printable } from '../printable.ts';
import { createServerClient } from '../server-client.ts';
import { exitCodes, ToolError, type ToolExit } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import { askUser } from './ask-user.ts';
import { ChatSession } from './chat-session.ts';
import { findChatTarget, type ChatTarget, type ChatTargetOptions } from './chat-target.ts';
import type { ChatTerminal } from './chat-terminal.ts';
import { ChatView } from './chat-view.ts';

export interface ChatOptions extends ChatTargetOptions {
  /** First message. Without a terminal and without piped input, the only one. */
  message?: string | undefined;
  /** Thread of an Intertie server to continue. */
  thread?: string | undefined;
  reasoning?: boolean | undefined;
}

const help = `  /reasoning  show the last reasoning, and from now on all reasoning
  /new        start a new conversation
  /exit       exit (or Ctrl-D)
`;

/** Runs a chat in the terminal. Returns the exit code. */
export async function chat(options: ChatOptions, io: ToolIO, terminal: ChatTerminal): Promise<ToolExit> {
  const paint = paintFor(io.stdout, io.env);
  const target = await findChatTarget(options, io);
  const view = new ChatView({ out: io.stdout, paint, showReasoning: options.reasoning === true });
  const conversation = new Conversation(target, { io, terminal, view, paint });
  if (io.stdout.isTerminal) {
    await io.stdout.write(
      `${paint('bold', printable(target.label))}\n${paint('dim', '/help, Ctrl-C stops an answer, Ctrl-D exits')}\n\n`,
    );
  }
  try {
    if (options.thread !== undefined) await conversation.resume(options.thread, options);
    if (options.message !== undefined) {
      await conversation.send(options.message);
      if (!io.stdin.isTerminal) return conversation.lastOutcome === 'error' ? exitCodes.found : exitCodes.ok;
    }
    await conversation.readLines();
  } finally {
    terminal.close();
  }
  return conversation.lastOutcome === 'error' && !io.stdin.isTerminal ? exitCodes.found : exitCodes.ok;
}

interface ChatContext {
  io: ToolIO;
  terminal: ChatTerminal;
  view: ChatView;
  paint: Paint;
}

/** Reads lines of the user, sends them to the target, and prints the answers. */
class Conversation {
  lastOutcome: string | undefined;
  #target: ChatTarget;
  #context: ChatContext;
  #session: ChatSession;
  #isExiting = false;

  constructor(target: ChatTarget, context: ChatContext) {
    this.#target = target;
    this.#context = context;
    this.#session = new ChatSession(target.source, { now: context.io.now });
  }

  /** Sends lines until the input ends. */
  async readLines(): Promise<void> {
    const { terminal, paint } = this.#context;
    while (!this.#isExiting) {
      const line = await terminal.ask(paint('bold', '› '));
      if (line === undefined || /^\/(?:exit|quit|q)$/.test(line.trim())) return;
      if (line.trim() !== '') await this.#handleLine(line.trim());
    }
  }

  async #handleLine(line: string): Promise<void> {
    const { view, paint } = this.#context;
    if (!/^\/[a-z]+$/.test(line)) return this.send(line);
    switch (line) {
      case '/help':
        return view.note(help.trimEnd());
      case '/new':
        this.#session = new ChatSession(this.#target.source, { now: this.#context.io.now });
        return view.note(paint('dim', '  New conversation.'));
      case '/reasoning':
        view.showReasoning = true;
        return view.note(paint('dim', printable(view.lastReasoning, '\n') || '  There is no reasoning yet.'));
      default:
        return view.note(paint('yellow', `  Unknown command ${line}.`) + `\n${help.trimEnd()}`);
    }
  }

  async send(text: string): Promise<void> {
    await this.#showRun((signal) => this.#session.send(text, signal));
    await this.#answerQuestions();
  }

  /** Continues a thread of the server, including an answer in progress. */
  async resume(threadId: string, options: ChatOptions): Promise<void> {
    const { server } = this.#target;
    if (!server) throw new ToolError('usage', 'Only an Intertie server stores threads.', 'Leave out --thread.');
    const { io, view, paint } = this.#context;
    const client = createServerClient({ ...options, server: server.origin }, io);
    const { format } = serverProtocol.messages!;
    const response = asFields(
      await client.get(`/api/threads/${encodeURIComponent(threadId)}/messages?format=${format}`),
    );
    const messages = decodeServerMessages(Array.isArray(response.messages) ? response.messages : [], { threadId });
    this.#session = new ChatSession(this.#target.source, { now: io.now, threadId, messages });
    for (const message of messages.slice(-6)) view.note(paint('dim', summarize(message)));
    const { runId, messageId } = asFields(response.live);
    if (asNonEmptyText(messageId) === undefined) return;
    const run = { ...this.#session.newRun(), messageId: String(messageId), runId: String(runId) };
    await this.#showRun(async (signal) => {
      const stream = await server.source.reattach?.(run, signal);
      return stream ? this.#session.follow(stream) : noEvents();
    });
    await this.#answerQuestions();
  }

  async #answerQuestions(): Promise<void> {
    while (this.#session.waiting.length > 0 && !this.#isExiting) {
      const answers = await askUser(this.#session.waiting, { ...this.#context, describe: (id) => this.#describe(id) });
      if (!answers) return this.#context.view.note(this.#context.paint('dim', '  (left open)'));
      await this.#showRun((signal) => this.#session.answer(answers, signal));
    }
  }

  /** Prints one run. Ctrl-C stops it; a second Ctrl-C exits. */
  async #showRun(
    start: (signal: AbortSignal) => AsyncIterable<AgentEvent> | Promise<AsyncIterable<AgentEvent>>,
  ): Promise<void> {
    const { terminal, view } = this.#context;
    const stop = new AbortController();
    const release = terminal.onInterrupt(() => {
      if (stop.signal.aborted) this.#isExiting = true;
      stop.abort({ by: 'user' });
    });
    try {
      for await (const event of await start(stop.signal)) {
        view.feed(event);
        if (event.type === 'run-end') this.lastOutcome = event.outcome;
        if (this.#isExiting) return;
      }
    } finally {
      release();
    }
  }

  #describe(toolCallId: string | undefined): string | undefined {
    const { paint } = this.#context;
    const parts = this.#session.messages.at(-1)?.content.parts ?? [];
    for (const part of parts) {
      if (part.type !== 'tool-invocation' || part.toolCallId !== toolCallId) continue;
      return `${paint('bold', printable(part.toolName))} ${paint('dim', printable(JSON.stringify(part.args) ?? ''))}`;
    }
    return undefined;
  }
}

function summarize({ role, content }: CanonicalMessage): string {
  const text = content.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  return `${role === 'user' ? '› ' : '  '}${printable(text.slice(0, 200))}`;
}

/** Replaces a run that has ended meanwhile. Its message is in the history. */
async function* noEvents(): AsyncGenerator<AgentEvent> {}

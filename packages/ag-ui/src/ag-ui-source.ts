import type { ResumeEntry } from '@ag-ui/core';
import {
  applyAnswer,
  compose,
  seal,
  sourceStream,
  toJson,
  type AgentSource,
  type Answer,
  type CanonicalMessage,
  type MessageContent,
  type OnLoss,
  type RunInput,
  type SourceStreamOptions,
  type ToolAnswer,
} from '@intertie/core';
import { createParser } from 'eventsource-parser';
import type { AGUIRunInput } from './ag-ui-event.ts';
import { declaredVersion } from './ag-ui-version.ts';
import { createAGUIDecoder } from './decode-ag-ui.ts';
import { encodeInterruptId } from './interrupt.ts';
import { defined, isFields } from './read-fields.ts';
import { socketEvents } from './socket-events.ts';
import { toAGUIMessages } from './to-ag-ui-messages.ts';

export interface AGUISourceOptions {
  /** Where the agent is: `https:` for server-sent events, `wss:` for a socket. */
  url: string;
  /** The source's name. Default: the URL's host. */
  name?: string;
  headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
  /** What the agent is given beside the run, verbatim. */
  forwardedProps?: unknown;
  /** How long the agent may be silent, in milliseconds. */
  idleMs?: number;
  fetch?: typeof globalThis.fetch;
  /** Is given every event of the agent before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
}

/** An AG-UI agent as a source. A paused run goes on from the history: results and resolved interrupts are sent with it. */
export function agUiSource(options: AGUISourceOptions): AgentSource {
  const { url, idleMs, onFrame, onLoss = () => undefined, name = new URL(url).host } = options;
  return {
    name,
    pauses: 'replay',
    run(run, { signal }) {
      const input = inputOf(run, options);
      const sent = input.messages.map(({ id }) => id);
      const codec = compose(createAGUIDecoder(run, { sent, onLoss }), seal(run, onLoss));
      const open = /^wss?:/.test(url)
        ? (stop: AbortSignal): AsyncIterable<unknown> => socketEvents(url, input, stop)
        : (stop: AbortSignal): AsyncIterable<unknown> => httpEvents(input, options, stop);
      return sourceStream(open, codec, { signal, ...defined({ idleMs, onFrame }) });
    },
  };
}

/** The request that asks for a run. */
function inputOf(run: RunInput, { forwardedProps, onLoss }: AGUISourceOptions): AGUIRunInput {
  const { threadId, runId, parentRunId, resumes, context, state, answers } = run;
  const results = answers.filter((answer) => !('questionId' in answer));
  const message = run.message && results.reduce<MessageContent>(applyAnswer, run.message);
  const messages = message ? [...run.history, messageOf(run, message)] : run.history;
  const resume = run.message ? resumeOf(run.message, answers) : [];
  const telling = { protocolVersion: declaredVersion, activities: false, ...defined({ onLoss }) };
  return {
    threadId,
    runId,
    protocolVersion: declaredVersion,
    ...defined({ parentRunId: parentRunId ?? resumes, forwardedProps: forwardedProps ?? undefined }),
    messages: messages.flatMap((one) => toAGUIMessages(one, telling)),
    tools: run.tools.map(({ name, description = '', inputSchema }) =>
      inputSchema === undefined ? { name, description } : { name, description, parameters: inputSchema },
    ),
    context,
    state: state ?? {},
    ...(resume.length > 0 && { resume }),
  };
}

function messageOf({ messageId: id, threadId, startedAt }: RunInput, content: MessageContent): CanonicalMessage {
  return { id, threadId, role: 'assistant', type: 'text', content, createdAt: new Date(startedAt) };
}

/** The answers to the questions of the message, under the ids that the agent gave its interrupts. */
function resumeOf({ parts }: MessageContent, answers: ReadonlyArray<Answer | ToolAnswer>): ResumeEntry[] {
  const given = new Map(
    answers.flatMap((answer) => ('questionId' in answer ? [[answer.questionId, answer] as const] : [])),
  );
  return parts.flatMap((part) => {
    const question = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
    const answer = question && (given.get(question.questionId) ?? question.answer);
    if (!question || !answer || (part.type === 'tool-invocation' && part.state !== 'call')) return [];
    const wire = question.providerMetadata?.['ag-ui']?.interruptId;
    return [resumeEntry(typeof wire === 'string' ? wire : encodeInterruptId(question), answer)];
  });
}

function resumeEntry(interruptId: string, { approved, value, cancelled, reason }: Answer): ResumeEntry {
  if (cancelled) return { interruptId, status: 'cancelled' };
  const payload = approved === undefined ? value : { approved, ...defined({ reason }) };
  return { interruptId, status: 'resolved', ...(payload !== undefined && payload !== null && { payload }) };
}

/** An answer of any other kind is an error with what the agent says of it. */
async function* httpEvents(input: AGUIRunInput, options: AGUISourceOptions, signal: AbortSignal): AsyncGenerator {
  const { url, fetch = globalThis.fetch } = options;
  const headers = typeof options.headers === 'function' ? await options.headers() : options.headers;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify(toJson(input)),
    signal,
  });
  if (!response.ok || response.body === null) {
    const said = await response.text().catch(() => '');
    const message = `The agent at ${url} answered ${response.status}${said === '' ? '' : `: ${said.slice(0, 500)}`}`;
    throw Object.assign(new Error(message), { code: `http-${response.status}` });
  }
  yield* sseEvents(response.body);
}

async function* sseEvents(body: ReadableStream<Uint8Array>): AsyncGenerator {
  const events: unknown[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const event = parse(data);
      // Frames that are no events are the server's own business.
      if (isFields(event)) events.push(event);
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one piece after the other
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

import type { ResumeEntry } from '@ag-ui/core';
import {
  applyAnswer,
  compose,
  seal,
  sourceStream,
  type AgentSource,
  type AgentEvent,
  type Answer,
  type CanonicalMessage,
  type Codec,
  type MessageContent,
  type OnLoss,
  type RunInput,
  type SourceStreamOptions,
} from '@intertie/core';
import { toJson } from '@intertie/core/internal';
import type { ToolAnswer } from '@intertie/core/store';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { declaredVersion } from '../shared/ag-ui-version.ts';
import { askForRun, type AskForRunOptions } from './request-run.ts';
import { createAGUIDecoder, type AGUIDecoderOptions } from '../decode/decode-ag-ui.ts';
import { refusal, sseEvents, type AGUIEndpoint } from '../wire/http-events.ts';
import { encodeInterruptId } from '../shared/interrupt.ts';
import { defined, isFields } from '../shared/read-fields.ts';
import { socketEvents } from '../wire/socket-events.ts';
import { toAGUIMessages } from '../encode/to-ag-ui-messages.ts';

export interface AGUISourceOptions extends AGUIEndpoint {
  /** The source's name. Default: the URL's host. */
  name?: string;
  /** What the agent is given beside the run, verbatim. Where the run's client forwards something too, this is laid over it. */
  forwardedProps?: unknown;
  /** How long the agent may be silent, in milliseconds. */
  idleMs?: number;
  /**
   * Whether a run that is stopped here is stopped there too, where the agent is one of ours that keeps its runs. Default: yes. If
   * not, it goes on without a reader. Elsewhere leaving is all that can be done.
   */
  stopOnAbort?: boolean;
  /** Is given every event of the agent before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
}

/** An AG-UI agent as a source. A paused run goes on from the history: results and resolved interrupts are sent with it. */
export function agUiSource(options: AGUISourceOptions): AgentSource {
  return agUiSourceWith(options, { begin: (run, codecOf) => codecOf(run), isStopped: (_, signal) => signal.aborted });
}

/** How long the decoder may wait for what an agent says of a result right after it. */
export const flushMs = 20;

type CodecOf = (run: RunInput) => Codec<unknown, AgentEvent>;

/** What is decided by whom the source is made for. */
interface SourceUse {
  /** Who has a word in what the run is called. */
  begin: (run: RunInput, codecOf: CodecOf) => Codec<unknown, AgentEvent>;
  /** Whether a run was stopped, of which no more is read. */
  isStopped: (run: RunInput, signal: AbortSignal) => boolean;
}

export function agUiSourceWith(options: AGUISourceOptions, { begin, isStopped }: SourceUse): AgentSource {
  const { url, idleMs, onFrame, name = new URL(url).host, stopOnAbort = true } = options;
  return {
    name,
    pauses: 'replay',
    run(run, { signal }) {
      const input = inputOf(run, options);
      const sent = input.messages.map(({ id }) => id);
      const codec = begin(run, (begun) => agUiCodec(begun, { ...options, sent, origins: onFrame !== undefined }));
      const open = /^wss?:/.test(url)
        ? (stop: AbortSignal): AsyncIterable<unknown> => socketEvents(url, input, stop)
        : (leave: AbortSignal): AsyncIterable<unknown> =>
            httpEvents(input, options, { leave, isStopped: () => stopOnAbort && isStopped(run, signal) });
      return sourceStream(open, codec, { signal, flushMs, ...defined({ idleMs, onFrame }) });
    },
  };
}

/** An agent's events as those of a run. */
export function agUiCodec(
  run: RunInput,
  { sent, origins, onLoss = () => undefined }: AGUIDecoderOptions,
): ReturnType<CodecOf> {
  return compose(createAGUIDecoder(run, { ...defined({ sent, origins }), onLoss }), seal(run, onLoss));
}

/** The request that asks for a run. */
function inputOf(run: RunInput, options: AGUISourceOptions): AGUIRunInput {
  const { onLoss } = options;
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
    ...defined({ parentRunId: parentRunId ?? resumes, forwardedProps: forwardedOf(run, options) }),
    messages: messages.flatMap((one) => toAGUIMessages(one, telling)),
    tools: run.tools.map(({ name, description = '', inputSchema }) =>
      inputSchema === undefined ? { name, description } : { name, description, parameters: inputSchema },
    ),
    context,
    state: state ?? {},
    ...(resume.length > 0 && { resume }),
  };
}

function forwardedOf({ forwardedProps: asked }: RunInput, { forwardedProps: own }: AGUISourceOptions): unknown {
  if (isFields(asked) && isFields(own)) return { ...asked, ...own };
  return own ?? asked ?? undefined;
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

async function* httpEvents(
  input: AGUIRunInput,
  options: AGUISourceOptions,
  leaving: Omit<AskForRunOptions, 'threadId'>,
): AsyncGenerator {
  const { threadId } = input;
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(toJson(input));
  const response = await askForRun(options, { method: 'POST', headers, body }, { threadId, ...leaving });
  if (!response.ok || response.body === null) throw await refusal(options, response);
  yield* sseEvents(response.body);
}

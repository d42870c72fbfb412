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
  type RunControl,
  type RunInput,
  type SourceStreamOptions,
  toJson,
} from '@intertie/core';
import { isHandOver } from '@intertie/core/internal';
import type { ToolAnswer } from '@intertie/core/store';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { declaredVersion } from '../shared/ag-ui-version.ts';
import { requestRun, type RequestRunOptions } from './request-run.ts';
import { RequestProgress, resumeRun, withCheckpoints } from './resume-run.ts';
import { createAGUIDecoder, type AGUIDecoderOptions } from '../decode/decode-ag-ui.ts';
import { toResponseError, sseEvents, type AGUIEndpoint } from '../wire/http-events.ts';
import { encodeInterruptId } from '../shared/interrupt.ts';
import { defined, isFields } from '../shared/read-fields.ts';
import { socketEvents } from '../wire/socket-events.ts';
import { toAGUIMessages } from '../encode/to-ag-ui-messages.ts';

export interface AGUISourceOptions extends AGUIEndpoint {
  /** Name of the source. Default: the host of the URL. */
  name?: string;
  /** Additional input for the agent's runtime. Merged over the props that the run's client forwards. */
  forwardedProps?: unknown;
  /** Maximum time without an event, in milliseconds. */
  idleMs?: number;
  /**
   * Whether stopping a run also stops a durable run of an Intertie agent; otherwise it continues without a reader. Other agents
   * only notice that the client disconnects. Default: true.
   */
  stopOnAbort?: boolean;
  /** Called with every event of the agent before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
}

/**
 * Creates a source from an AG-UI agent. A paused run is continued by sending the history with tool results and answers. A run whose
 * process has died continues if the agent is an Intertie agent with durable runs.
 */
export function agUiSource(options: AGUISourceOptions): AgentSource {
  const { stopOnAbort = true } = options;
  const source = agUiSourceWith(options, {
    begin: (run, createCodec) => createCodec(run),
    isStopped: (_, signal) => wasStopped(signal),
    isResumable: true,
  });
  return {
    ...source,
    resume(run, from, control) {
      const input = toRunAgentInput(run, options);
      const sent = input.messages.map(({ id }) => id);
      const { signal } = control;
      const stops = { isStopped: () => stopOnAbort && wasStopped(signal) };
      const send = (progress: RequestProgress, leave: AbortSignal): AsyncIterable<unknown> =>
        httpEvents(input, options, { leave, ...stops }, { progress, control });
      return resumeRun(options, { run, from, signal, sent, flushMs, send, ...stops });
    },
  };
}

/** A run that another process continues is not stopped. */
function wasStopped(signal: AbortSignal): boolean {
  return signal.aborted && !isHandOver(signal);
}

/** Maximum time that the decoder holds a tool result, for events that add metadata to it. */
export const flushMs = 20;

type CreateCodec = (run: RunInput) => Codec<unknown, AgentEvent>;

interface SourceHooks {
  /** Creates the codec of a run. May change the run's ids. */
  begin: (run: RunInput, createCodec: CreateCodec) => Codec<unknown, AgentEvent>;
  /** Whether a run that is no longer read was stopped. */
  isStopped: (run: RunInput, signal: AbortSignal) => boolean;
  /** Whether runs have checkpoints, for another process. Default: false. */
  isResumable?: boolean;
}

/** `agUiSource` with hooks, for `AGUIChatTransport`. */
export function agUiSourceWith(
  options: AGUISourceOptions,
  { begin, isStopped, isResumable = false }: SourceHooks,
): AgentSource {
  const { url, idleMs, onFrame, name = new URL(url).host, stopOnAbort = true } = options;
  const isSocket = /^wss?:/.test(url);
  return {
    name,
    pauses: 'replay',
    run(run, control) {
      const { signal } = control;
      const progress = isResumable && !isSocket ? new RequestProgress(run.runId) : undefined;
      const input = toRunAgentInput(run, options);
      const sent = input.messages.map(({ id }) => id);
      const codec = begin(run, (started) =>
        agUiCodec(started, { ...options, sent, origins: onFrame !== undefined }, progress),
      );
      const open = isSocket
        ? (stop: AbortSignal): AsyncIterable<unknown> => socketEvents(url, input, stop)
        : (leave: AbortSignal): AsyncIterable<unknown> =>
            httpEvents(
              input,
              options,
              { leave, isStopped: () => stopOnAbort && isStopped(run, signal) },
              progress && { progress, control },
            );
      return sourceStream(open, codec, { signal, flushMs, ...defined({ idleMs, onFrame }) });
    },
  };
}

/** Creates the codec from an agent's events to those of a run. */
export function agUiCodec(
  run: RunInput,
  { sent, origins, onLoss = () => undefined }: AGUIDecoderOptions,
  progress?: RequestProgress,
): ReturnType<CreateCodec> {
  const decoder = createAGUIDecoder(run, { ...defined({ sent, origins }), onLoss });
  return compose(progress ? withCheckpoints(decoder, progress) : decoder, seal(run, onLoss));
}

/** Creates the request for a run. */
function toRunAgentInput(run: RunInput, options: AGUISourceOptions): AGUIRunInput {
  const { onLoss } = options;
  const { threadId, runId, parentRunId, resumes, context, state, answers } = run;
  const results = answers.filter((answer) => !('questionId' in answer));
  const message = run.message && results.reduce<MessageContent>(applyAnswer, run.message);
  const messages = message ? [...run.history, toMessage(run, message)] : run.history;
  const resume = run.message ? toResume(run.message, answers) : [];
  const messageOptions = { protocolVersion: declaredVersion, activities: false, ...defined({ onLoss }) };
  return {
    threadId,
    runId,
    protocolVersion: declaredVersion,
    ...defined({ parentRunId: parentRunId ?? resumes, forwardedProps: mergeForwardedProps(run, options) }),
    messages: messages.flatMap((sent) => toAGUIMessages(sent, messageOptions)),
    tools: run.tools.map(({ name, description = '', inputSchema }) =>
      inputSchema === undefined ? { name, description } : { name, description, parameters: inputSchema },
    ),
    context,
    state: state ?? {},
    ...(resume.length > 0 && { resume }),
  };
}

function mergeForwardedProps({ forwardedProps: asked }: RunInput, { forwardedProps: own }: AGUISourceOptions): unknown {
  if (isFields(asked) && isFields(own)) return { ...asked, ...own };
  return own ?? asked ?? undefined;
}

function toMessage({ messageId: id, threadId, startedAt }: RunInput, content: MessageContent): CanonicalMessage {
  return { id, threadId, role: 'assistant', type: 'text', content, createdAt: new Date(startedAt) };
}

/** Returns the answers to the questions of a message, under the agent's interrupt ids. */
function toResume({ parts }: MessageContent, answers: ReadonlyArray<Answer | ToolAnswer>): ResumeEntry[] {
  const answersById = new Map(
    answers.flatMap((answer) => ('questionId' in answer ? [[answer.questionId, answer] as const] : [])),
  );
  return parts.flatMap((part) => {
    const question = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
    const answer = question && (answersById.get(question.questionId) ?? question.answer);
    if (!question || !answer || (part.type === 'tool-invocation' && part.state !== 'call')) return [];
    const wire = question.providerMetadata?.['ag-ui']?.interruptId;
    return [toResumeEntry(typeof wire === 'string' ? wire : encodeInterruptId(question), answer)];
  });
}

function toResumeEntry(interruptId: string, { approved, value, cancelled, reason }: Answer): ResumeEntry {
  if (cancelled) return { interruptId, status: 'cancelled' };
  const payload = approved === undefined ? value : { approved, ...defined({ reason }) };
  return { interruptId, status: 'resolved', ...(payload !== undefined && payload !== null && { payload }) };
}

async function* httpEvents(
  input: AGUIRunInput,
  options: AGUISourceOptions,
  abort: Omit<RequestRunOptions, 'threadId'>,
  resumable?: { progress: RequestProgress; control: RunControl },
): AsyncGenerator {
  const { threadId } = input;
  // The request must be in the log before it is sent. Otherwise another process would send it again.
  await resumable?.control.barrier();
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(toJson(input));
  const response = await requestRun(options, { method: 'POST', headers, body }, { threadId, ...abort }).catch(
    (error: unknown) => {
      throw abort.leave.aborted ? error : toUnreachableError(options, error);
    },
  );
  if (!response.ok || response.body === null) throw await toResponseError(options, response);
  resumable?.progress.readResponse(response);
  yield* sseEvents(response.body);
}

/** Names the agent: the error of `fetch` is only "fetch failed", with the reason in its cause. */
function toUnreachableError({ url }: AGUISourceOptions, error: unknown): unknown {
  if (!(error instanceof TypeError)) return error;
  const { code, message = error.message } = (error.cause ?? {}) as { code?: string; message?: string };
  const reason = code === 'ECONNREFUSED' ? 'the connection was refused' : message || error.message;
  return new Error(`Cannot reach the agent at ${url}: ${reason}. Start the agent, or correct its URL.`, {
    cause: error,
  });
}

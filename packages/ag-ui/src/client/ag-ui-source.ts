import {
  compose,
  seal,
  sourceStream,
  type AgentSource,
  type AgentEvent,
  type Codec,
  type OnLoss,
  type RunControl,
  type RunInput,
  type SourceStreamOptions,
  toJson,
} from '@intertie/core';
import { isHandOver } from '@intertie/core/internal';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { declaredVersion } from '../shared/ag-ui-version.ts';
import { requestRun, type RequestRunOptions } from './request-run.ts';
import { RequestProgress, resumeRun, withCheckpoints } from './resume-run.ts';
import { createAGUIDecoder, type AGUIDecoderOptions } from '../decode/decode-ag-ui.ts';
import { toResponseError, sseEvents, type AGUIEndpoint } from '../wire/http-events.ts';
import { defined, isFields } from '../shared/read-fields.ts';
import { socketEvents } from '../wire/socket-events.ts';
import { toAgentMessages, toContinuedMessage } from '../messages/agent-messages.ts';
import { answerInterrupts, withCommand } from './answer-interrupts.ts';
import { inProcessEvents, type InProcessAgent } from './in-process-agent.ts';

/** Options of every AG-UI agent. */
export interface AGUIRunOptions {
  /** Name of the source. Default: the host of the URL, or the id of the agent, else `ag-ui`. */
  name?: string;
  /** Additional input for the agent's runtime. Merged over the props that the run's client forwards. */
  forwardedProps?: unknown;
  /** Maximum time without an event, in milliseconds. */
  idleMs?: number;
  /** Called with every event of the agent before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
}

/** Options of an agent at a URL, whichever run is requested. */
export interface AGUIRequestOptions extends AGUIEndpoint, AGUIRunOptions {
  /**
   * Whether stopping a run also stops a durable run of an Intertie agent; otherwise it continues without a reader. Other agents
   * only notice that the client disconnects. Default: true.
   */
  stopOnAbort?: boolean;
}

/** Options of an agent at a URL. */
export interface AGUISourceOptions extends Omit<AGUIRequestOptions, 'headers'> {
  /** Headers of every request, or a function of the run that returns them: `run.principal` is its user. */
  headers?: Headers | ((run: RunInput) => Headers | Promise<Headers>);
}

type Headers = Record<string, string>;

/** Options of an agent in the same process. */
export interface InProcessAgentOptions extends AGUIRunOptions {
  /** Agent of `@ag-ui/client`: `HttpAgent`, `MastraAgent`, `LangGraphAgent`, or your own. Each run uses a clone of it. */
  agent: InProcessAgent;
}

/**
 * Creates a source from an AG-UI agent, at a URL or in this process. A paused run is continued by sending the history with tool
 * results and answers. A run whose process has died continues if the agent is an Intertie agent with durable runs.
 */
export function agUiSource(options: AGUISourceOptions | InProcessAgentOptions): AgentSource {
  if ('agent' in options) return inProcessSource(options);
  const { headers, stopOnAbort = true, ...rest } = options;
  const forRun = (run: RunInput): AGUIRequestOptions =>
    typeof headers === 'function' ? { ...rest, headers: () => headers(run) } : { ...rest, ...defined({ headers }) };
  return {
    ...createRunSource(rest),
    run: (run, control) => createRunSource(forRun(run)).run(run, control),
    // Only an answered request shows that the agent keeps its runs.
    canResume: (token) => isFields(token) && token.isDurable === true,
    resume(run, from, control) {
      const request = forRun(run);
      const input = toRunAgentInput(run, request);
      const sent = input.messages.map(({ id }) => id);
      const { signal } = control;
      const stops = { isStopped: () => stopOnAbort && wasStopped(signal) };
      const send = (progress: RequestProgress, leave: AbortSignal): AsyncIterable<unknown> =>
        httpEvents(input, request, { leave, ...stops }, { progress, control });
      return resumeRun(request, { run, from, signal, sent, flushMs, send, ...stops });
    },
  };
}

function createRunSource(options: AGUIRequestOptions): AgentSource {
  return agUiSourceWith(options, {
    createCodec: (run, codec) => codec(run),
    isStopped: (_, signal) => wasStopped(signal),
    isResumable: true,
  });
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
  createCodec: (run: RunInput, codec: CreateCodec) => Codec<unknown, AgentEvent>;
  /** Whether a run that is no longer read was stopped. */
  isStopped: (run: RunInput, signal: AbortSignal) => boolean;
  /** Whether runs have checkpoints, for another process. Default: false. */
  isResumable?: boolean;
}

function inProcessSource(options: InProcessAgentOptions): AgentSource {
  const { agent, idleMs, onFrame, name = agent.agentId ?? 'ag-ui' } = options;
  return {
    name,
    pauses: 'replay',
    run(run, { signal }) {
      const { input, codec } = begin(run, options);
      const open = (leave: AbortSignal): AsyncIterable<unknown> => inProcessEvents(agent, input, leave);
      return sourceStream(open, codec(run), { signal, flushMs, ...defined({ idleMs, onFrame }) });
    },
  };
}

/** Creates the request of a run, and its codec. */
function begin(
  run: RunInput,
  options: AGUIRunOptions,
  progress?: RequestProgress,
): { input: AGUIRunInput; codec: CreateCodec } {
  const input = toRunAgentInput(run, options);
  const sent = input.messages.map(({ id }) => id);
  const decoderOptions = { ...defined({ onLoss: options.onLoss }), sent, origins: options.onFrame !== undefined };
  return { input, codec: (started) => agUiCodec(started, decoderOptions, progress) };
}

/** `agUiSource` with hooks, for `AGUIChatTransport`. */
export function agUiSourceWith(
  options: AGUIRequestOptions,
  { createCodec, isStopped, isResumable = false }: SourceHooks,
): AgentSource {
  const { url, idleMs, onFrame, name = new URL(url).host, stopOnAbort = true } = options;
  const isSocket = /^wss?:/.test(url);
  return {
    name,
    pauses: 'replay',
    run(run, control) {
      const { signal } = control;
      const progress = isResumable && !isSocket ? new RequestProgress(run.runId) : undefined;
      const { input, codec } = begin(run, options, progress);
      const stops = { isStopped: () => stopOnAbort && isStopped(run, signal) };
      const open = isSocket
        ? (stop: AbortSignal): AsyncIterable<unknown> => socketEvents(url, input, stop)
        : (leave: AbortSignal): AsyncIterable<unknown> =>
            httpEvents(input, options, { leave, ...stops }, progress && { progress, control });
      return sourceStream(open, createCodec(run, codec), { signal, flushMs, ...defined({ idleMs, onFrame }) });
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
function toRunAgentInput(run: RunInput, options: AGUIRunOptions): AGUIRunInput {
  const { onLoss } = options;
  const { threadId, runId, parentRunId, resumes, context, state } = run;
  const { resume, command } = answerInterrupts(run);
  const forwardedProps = withCommand(mergeForwardedProps(run, options), command);
  const messageOptions = { protocolVersion: declaredVersion, activities: false, ...defined({ onLoss }) };
  const messages = [...run.history, ...[toContinuedMessage(run)].filter((message) => message !== undefined)];
  return {
    threadId,
    runId,
    protocolVersion: declaredVersion,
    ...defined({ parentRunId: parentRunId ?? resumes, forwardedProps }),
    messages: messages.flatMap((message) => toAgentMessages(message, messageOptions)),
    tools: run.tools.map(({ name, description = '', inputSchema }) =>
      inputSchema === undefined ? { name, description } : { name, description, parameters: inputSchema },
    ),
    context,
    state: state ?? {},
    ...(resume.length > 0 && { resume }),
  };
}

function mergeForwardedProps({ forwardedProps: asked }: RunInput, { forwardedProps: own }: AGUIRunOptions): unknown {
  if (isFields(asked) && isFields(own)) return { ...asked, ...own };
  return own ?? asked ?? undefined;
}

async function* httpEvents(
  input: AGUIRunInput,
  options: AGUIRequestOptions,
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
function toUnreachableError({ url }: AGUIRequestOptions, error: unknown): unknown {
  if (!(error instanceof TypeError)) return error;
  const { code, message = error.message } = (error.cause ?? {}) as { code?: string; message?: string };
  const reason = code === 'ECONNREFUSED' ? 'the connection was refused' : message || error.message;
  return new Error(`Cannot reach the agent at ${url}: ${reason}. Start the agent, or correct its URL.`, {
    cause: error,
  });
}

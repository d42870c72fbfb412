import {
  InvalidArgumentError,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3GenerateResult,
  type LanguageModelV3StreamPart,
  type LanguageModelV3StreamResult,
  type SharedV3Warning,
} from '@ai-sdk/provider';
import { createLanguageModelV3Encoder, generateFromEvents, type LanguageModelV3EncoderOptions } from '@intertie/ai-sdk';
import { compose, generateId, iterate, seal, sourceStream, type AgentEvent } from '@intertie/core';
import { toAgentEvent, type MAILAgentEvent, type MAILPlainEvent } from '../shared/agent-event.ts';
import { createAgentLabels } from '../shared/agent-labels.ts';
import { getCallWarnings } from './call-warnings.ts';
import { createMAILDecoder } from '../decode/decode-mail.ts';
import { EventReader } from './event-reader.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import { MAILServer } from '../client/mail-server.ts';
import {
  readSettings,
  readCallSettings,
  type MAILModelSettings,
  type MAILProviderSettings,
} from '../shared/mail-settings.ts';
import { createModelRun } from './model-run.ts';
import { planNewTask, planRequest } from './plan-request.ts';
import { toResponseBody } from '../client/response-body.ts';
import { sendRequest, type StartedRequest } from '../client/send-request.ts';

type Call = { started: StartedRequest; events: ReadableStream<AgentEvent>; encoder: LanguageModelV3EncoderOptions };
type ModelEventReader = EventReader<MAILAgentEvent | MAILPlainEvent>;

/** Exposes a swarm as a language model. One call is one request of a task, up to its answer or to a tool of the caller. */
export class MAILLanguageModel implements LanguageModelV3 {
  readonly specificationVersion = 'v3';
  readonly provider = 'mail';
  readonly modelId: string;
  /** Empty, because agents of a swarm read only text. */
  readonly supportedUrls: Record<string, RegExp[]> = {};
  #settings: MAILModelSettings;
  #providerSettings: MAILProviderSettings;
  #server: MAILServer;
  #isMapped: boolean;
  #reader: ModelEventReader | undefined;
  #waiting: Array<(reader: ModelEventReader) => void> = [];

  constructor(modelId: string, settings: MAILModelSettings = {}, providerSettings: MAILProviderSettings = {}) {
    this.modelId = modelId;
    this.#settings = settings;
    this.#providerSettings = providerSettings;
    const { swarms = {} } = providerSettings;
    this.#isMapped = Object.hasOwn(swarms, modelId);
    this.#server = new MAILServer(providerSettings, this.#isMapped ? swarms[modelId] : undefined);
  }

  async doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    const { started, events, encoder } = await this.#startCall(options);
    const { body, responseHeaders: headers } = started;
    return { stream: this.#streamParts(started, events, encoder), request: { body }, response: { headers } };
  }

  async doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    const frames: MAILFrame[] = [];
    const { started, events, encoder } = await this.#startCall(options, (frame) => void frames.push(frame));
    const result = await generateFromEvents(iterate(events), encoder);
    options.abortSignal?.throwIfAborted();
    const { body, responseHeaders: headers, request } = started;
    const response = {
      id: request.taskId,
      modelId: this.modelId,
      timestamp: new Date(),
      headers,
      body: toResponseBody(frames),
    };
    return { ...result, request: { body }, response };
  }

  /** Iterates over the events of the current call, or of the next one. */
  async *events(): AsyncGenerator<MAILAgentEvent | MAILPlainEvent, void> {
    const reader =
      this.#reader && !this.#reader.isReading
        ? this.#reader
        : await new Promise<ModelEventReader>((resolve) => void this.#waiting.push(resolve));
    yield* reader.read();
  }

  async #startCall(options: LanguageModelV3CallOptions, onFrame?: (frame: MAILFrame) => void): Promise<Call> {
    const { onTask, generateId: newId = generateId, includeAgentChatter = false } = this.#providerSettings;
    const { prompt, abortSignal: signal, headers = {}, includeRawChunks = false } = options;
    const settings = { ...readSettings(this.#settings), ...readCallSettings(options.providerOptions) };
    const reader = this.#startReader();
    try {
      await this.#checkEntrypoint(settings, signal);
      const hasToken = this.#server.token !== undefined;
      const warnings = [...getCallWarnings(options, settings, hasToken), ...(await this.#checkSwarm(settings))];
      const planned = planRequest(prompt, settings, { generateId: newId, canAnswer: hasToken });
      if (planned.request.resumeFrom === 'breakpoint_tool_call' && !hasToken) throw createNoTokenError();
      const fresh = planNewTask(prompt, newId());
      const context = { server: this.#server, settings, headers, signal, onTask };
      const started = await sendRequest(planned.request, () => fresh.request, context);
      if (started.lostTaskId !== undefined) warnings.push(createLostTaskWarning(started.lostTaskId));
      warnings.push(...(started.lostTaskId === undefined ? planned : fresh).warnings);
      const run = createModelRun(newId(), prompt, Date.now());
      const { taskId, resumeFrom } = started.request;
      const { includeEvents = false, toolCalls = 'actions' } = settings;
      const answersBreakpoint = resumeFrom === 'breakpoint_tool_call';
      const decoder = createMAILDecoder(run, { taskId, includeEvents, answersBreakpoint, toolCalls });
      const sealed = compose(
        decoder,
        seal(run, () => undefined, { trusted: true }),
      );
      const codec = compose(sealed, createAgentLabels(includeAgentChatter));
      const frames = this.#observeFrames(started.frames, reader, onFrame);
      const events = sourceStream(frames, codec, signal ? { signal } : {});
      return { started, events, encoder: { includeInternal: includeAgentChatter, warnings, includeRawChunks } };
    } catch (error) {
      reader.end();
      throw error;
    }
  }

  /**
   * Reads without backpressure: the task runs whether or not its text is read, and `mailEvents` may be the only reader. The
   * events are few, because MAIL sends whole messages.
   */
  #streamParts(
    { request }: StartedRequest,
    events: ReadableStream<AgentEvent>,
    options: LanguageModelV3EncoderOptions,
  ): ReadableStream<LanguageModelV3StreamPart> {
    const encoder = createLanguageModelV3Encoder(options);
    const iterator = iterate(events);
    const { modelId } = this;
    return new ReadableStream<LanguageModelV3StreamPart>({
      start(controller) {
        const emit = (part: LanguageModelV3StreamPart): void => {
          controller.enqueue(part);
          if (part.type !== 'stream-start') return;
          // The SDK keeps this part after an abort, so the task's id survives.
          controller.enqueue({ type: 'response-metadata', id: request.taskId, modelId, timestamp: new Date() });
        };
        const pump = async (): Promise<void> => {
          for await (const event of iterator) encoder.feed(event, emit);
          controller.close();
        };
        // `enqueue` throws after a cancel; the events themselves never fail.
        pump().catch(() => iterator.return?.());
      },
      async cancel(reason) {
        await iterator.return?.(reason);
      },
    });
  }

  #startReader(): ModelEventReader {
    const reader: ModelEventReader = new EventReader();
    this.#reader = reader;
    const [next] = this.#waiting.splice(0, 1);
    next?.(reader);
    return reader;
  }

  #observeFrames(
    frames: AsyncIterable<MAILFrame>,
    reader: ModelEventReader,
    onFrame: ((frame: MAILFrame) => void) | undefined,
  ): AsyncIterable<MAILFrame> {
    const { onEvent } = this.#providerSettings;
    const iterator = frames[Symbol.asyncIterator]();
    const observe = (result: IteratorResult<MAILFrame>): IteratorResult<MAILFrame> => {
      const event = result.done ? undefined : toAgentEvent(result.value);
      if (!result.done) onFrame?.(result.value);
      if (event) {
        reader.push(event);
        onEvent?.(event);
      }
      if (result.done) reader.end();
      return result;
    };
    const observed: AsyncIterator<MAILFrame> = {
      async next() {
        try {
          return observe(await iterator.next());
        } catch (error) {
          reader.end();
          throw error;
        }
      },
      async return(reason) {
        reader.end();
        return (await iterator.return?.(reason)) ?? { done: true, value: undefined };
      },
    };
    return { [Symbol.asyncIterator]: () => observed };
  }

  async #checkSwarm({ swarm = this.modelId }: MAILModelSettings): Promise<SharedV3Warning[]> {
    if (swarm === 'default' || this.#isMapped) return [];
    const name = (await this.#server.getInfo())?.swarm;
    if (name === undefined || name === swarm) return [];
    const message =
      `The server at ${this.#server.baseUrl} hosts the swarm "${name}", not "${swarm}", and answers anyway. ` +
      `Use mail('${name}') or mail('default'), or map "${swarm}" to its server in the setting "swarms".`;
    return [{ type: 'other', message }];
  }

  async #checkEntrypoint(settings: MAILModelSettings, signal: AbortSignal | undefined): Promise<void> {
    const { bypassSupervisor, entrypoint } = settings;
    if (!bypassSupervisor) return;
    if (entrypoint === undefined) {
      const message = 'bypassSupervisor requires an agent that receives the message. Set "entrypoint" too.';
      throw new InvalidArgumentError({ argument: 'bypassSupervisor', message });
    }
    const { agents } = await this.#server.readAgents(signal);
    const agent = agents.find(({ name }) => name === entrypoint);
    if (agent?.canComplete) return;
    const able = agents.flatMap(({ name, canComplete }) => (canComplete ? [name] : [])).join(', ');
    const message = agent
      ? `The agent "${entrypoint}" cannot complete tasks, so without its supervisor the task would never end. ` +
        `Leave out bypassSupervisor, or use an agent that can: ${able}.`
      : `The swarm has no agent "${entrypoint}". It has: ${agents.map(({ name }) => name).join(', ')}.`;
    throw new InvalidArgumentError({ argument: 'entrypoint', message });
  }
}

function createNoTokenError(): InvalidArgumentError {
  const message =
    'Results of breakpoint tools can only be sent to POST /message, which needs a token: /ui/message ignores them. ' +
    'Set authToken (or MAIL_API_KEY).';
  return new InvalidArgumentError({ argument: 'authToken', message });
}

function createLostTaskWarning(taskId: string): SharedV3Warning {
  const message = `The server has lost the task ${taskId}, probably by a restart. A new task was started with the transcript.`;
  return { type: 'other', message };
}

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
import { callWarnings } from './call-warnings.ts';
import { createMAILDecoder } from '../decode/decode-mail.ts';
import { EventFeed } from './event-feed.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import { MAILServer } from '../client/mail-server.ts';
import {
  readSettings,
  settingsOfCall,
  type MAILModelSettings,
  type MAILProviderSettings,
} from '../shared/mail-settings.ts';
import { modelRun } from './model-run.ts';
import { freshTurn, planTurn } from './plan-turn.ts';
import { toResponseBody } from '../client/response-body.ts';
import { startTurn, type StartedTurn } from '../client/start-turn.ts';

type Call = { started: StartedTurn; events: ReadableStream<AgentEvent>; encoder: LanguageModelV3EncoderOptions };
type Feed = EventFeed<MAILAgentEvent | MAILPlainEvent>;

/** A swarm as a language model. One call is one turn of a task, up to its answer or to a tool that the caller has to run. */
export class MAILLanguageModel implements LanguageModelV3 {
  readonly specificationVersion = 'v3';
  readonly provider = 'mail';
  readonly modelId: string;
  /** Nothing: agents read text. */
  readonly supportedUrls: Record<string, RegExp[]> = {};
  #settings: MAILModelSettings;
  #providerSettings: MAILProviderSettings;
  #server: MAILServer;
  #isMapped: boolean;
  #feed: Feed | undefined;
  #awaited: Array<(feed: Feed) => void> = [];

  constructor(modelId: string, settings: MAILModelSettings = {}, providerSettings: MAILProviderSettings = {}) {
    this.modelId = modelId;
    this.#settings = settings;
    this.#providerSettings = providerSettings;
    const { swarms = {} } = providerSettings;
    this.#isMapped = Object.hasOwn(swarms, modelId);
    this.#server = new MAILServer(providerSettings, this.#isMapped ? swarms[modelId] : undefined);
  }

  async doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    const { started, events, encoder } = await this.#open(options);
    const { body, responseHeaders: headers } = started;
    return { stream: this.#parts(started, events, encoder), request: { body }, response: { headers } };
  }

  async doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    const frames: MAILFrame[] = [];
    const { started, events, encoder } = await this.#open(options, (frame) => void frames.push(frame));
    const result = await generateFromEvents(iterate(events), encoder);
    options.abortSignal?.throwIfAborted();
    const { body, responseHeaders: headers, turn } = started;
    const response = {
      id: turn.taskId,
      modelId: this.modelId,
      timestamp: new Date(),
      headers,
      body: toResponseBody(frames),
    };
    return { ...result, request: { body }, response };
  }

  /** The events of the call that is under way, or of the next one. */
  async *events(): AsyncGenerator<MAILAgentEvent | MAILPlainEvent, void> {
    const feed =
      this.#feed && !this.#feed.isTaken
        ? this.#feed
        : await new Promise<Feed>((resolve) => void this.#awaited.push(resolve));
    yield* feed.read();
  }

  async #open(options: LanguageModelV3CallOptions, onFrame?: (frame: MAILFrame) => void): Promise<Call> {
    const { onTask, generateId: newId = generateId, includeAgentChatter = false } = this.#providerSettings;
    const { prompt, abortSignal: signal, headers = {}, includeRawChunks = false } = options;
    const settings = { ...readSettings(this.#settings), ...settingsOfCall(options.providerOptions) };
    const feed = this.#startFeed();
    try {
      await this.#checkEntrypoint(settings, signal);
      const hasToken = this.#server.token !== undefined;
      const warnings = [...callWarnings(options, settings, hasToken), ...(await this.#checkSwarm(settings))];
      const planned = planTurn(prompt, settings, { generateId: newId, canAnswer: hasToken });
      if (planned.turn.resumeFrom === 'breakpoint_tool_call' && !hasToken) throw noTokenError();
      const fresh = freshTurn(prompt, newId());
      const context = { server: this.#server, settings, headers, signal, onTask };
      const started = await startTurn(planned.turn, () => fresh.turn, context);
      if (started.lost !== undefined) warnings.push(lostWarning(started.lost));
      warnings.push(...(started.lost === undefined ? planned : fresh).warnings);
      const run = modelRun(newId(), prompt, Date.now());
      const { taskId, resumeFrom } = started.turn;
      const { includeEvents = false, toolCalls = 'actions' } = settings;
      const answersBreakpoint = resumeFrom === 'breakpoint_tool_call';
      const decoder = createMAILDecoder(run, { taskId, includeEvents, answersBreakpoint, toolCalls });
      const sealed = compose(
        decoder,
        seal(run, () => undefined, { trusted: true }),
      );
      const codec = compose(sealed, createAgentLabels(includeAgentChatter));
      const frames = this.#observed(started.frames, feed, onFrame);
      const events = sourceStream(frames, codec, signal ? { signal } : {});
      return { started, events, encoder: { includeInternal: includeAgentChatter, warnings, includeRawChunks } };
    } catch (error) {
      feed.end();
      throw error;
    }
  }

  /**
   * Read without being asked to, since a task goes on whether or not anybody reads, and `mailEvents` may be the only reader.
   * Its events are few and whole.
   */
  #parts(
    { turn }: StartedTurn,
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
          // Where the task's id survives an abort.
          controller.enqueue({ type: 'response-metadata', id: turn.taskId, modelId, timestamp: new Date() });
        };
        const pump = async (): Promise<void> => {
          for await (const event of iterator) encoder.feed(event, emit);
          controller.close();
        };
        // The events never fail; a reader who has left needs no more of them.
        pump().catch(() => iterator.return?.());
      },
      async cancel(reason) {
        await iterator.return?.(reason);
      },
    });
  }

  #startFeed(): Feed {
    const feed: Feed = new EventFeed();
    this.#feed = feed;
    const [next] = this.#awaited.splice(0, 1);
    next?.(feed);
    return feed;
  }

  #observed(
    frames: AsyncIterable<MAILFrame>,
    feed: Feed,
    onFrame: ((frame: MAILFrame) => void) | undefined,
  ): AsyncIterable<MAILFrame> {
    const { onEvent } = this.#providerSettings;
    const iterator = frames[Symbol.asyncIterator]();
    const observe = (result: IteratorResult<MAILFrame>): IteratorResult<MAILFrame> => {
      const event = result.done ? undefined : toAgentEvent(result.value);
      if (!result.done) onFrame?.(result.value);
      if (event) {
        feed.push(event);
        onEvent?.(event);
      }
      if (result.done) feed.end();
      return result;
    };
    const observed: AsyncIterator<MAILFrame> = {
      async next() {
        try {
          return observe(await iterator.next());
        } catch (error) {
          feed.end();
          throw error;
        }
      },
      async return(reason) {
        feed.end();
        return (await iterator.return?.(reason)) ?? { done: true, value: undefined };
      },
    };
    return { [Symbol.asyncIterator]: () => observed };
  }

  async #checkSwarm({ swarm = this.modelId }: MAILModelSettings): Promise<SharedV3Warning[]> {
    if (swarm === 'default' || this.#isMapped) return [];
    const name = (await this.#server.info())?.swarm;
    if (name === undefined || name === swarm) return [];
    const message =
      `The server at ${this.#server.baseUrl} hosts the swarm "${name}", not "${swarm}", and answers all the same. ` +
      `Name it mail('${name}') or mail('default'), or map "${swarm}" to its server in the setting "swarms".`;
    return [{ type: 'other', message }];
  }

  async #checkEntrypoint(settings: MAILModelSettings, signal: AbortSignal | undefined): Promise<void> {
    const { bypassSupervisor, entrypoint } = settings;
    if (!bypassSupervisor) return;
    if (entrypoint === undefined) {
      const message = 'bypassSupervisor needs to know which agent gets the message: set "entrypoint" too.';
      throw new InvalidArgumentError({ argument: 'bypassSupervisor', message });
    }
    const { agents } = await this.#server.agents(signal);
    const agent = agents.find(({ name }) => name === entrypoint);
    if (agent?.canComplete) return;
    const able = agents.flatMap(({ name, canComplete }) => (canComplete ? [name] : [])).join(', ');
    const message = agent
      ? `The agent "${entrypoint}" cannot complete tasks, so without its supervisor the task would never end. ` +
        `Leave out bypassSupervisor, or take one of those that can: ${able}.`
      : `The swarm has no agent "${entrypoint}". It has: ${agents.map(({ name }) => name).join(', ')}.`;
    throw new InvalidArgumentError({ argument: 'entrypoint', message });
  }
}

function noTokenError(): InvalidArgumentError {
  const message =
    'The result of a breakpoint tool can only be sent to POST /message, which needs a token: /ui/message does not read it. ' +
    'Set authToken (or MAIL_API_KEY).';
  return new InvalidArgumentError({ argument: 'authToken', message });
}

function lostWarning(taskId: string): SharedV3Warning {
  const message = `The server has lost the task ${taskId} (was it restarted?). A new one was started and told what was said.`;
  return { type: 'other', message };
}

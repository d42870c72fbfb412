import {
  compose,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type Codec,
  type JsonObject,
  type MessageContent,
  type OnLoss,
  type OnModelCall,
  type ResumePoint,
  type RunControl,
  type RunInput,
  type SourceStreamOptions,
} from '@intertie/core';
import { prependEvents, type ToolPart } from '@intertie/core/internal';
import {
  jsonSchema,
  streamText,
  type LanguageModel,
  type ModelMessage,
  type SystemModelMessage,
  type ToolSet,
} from 'ai';
import { createFullStreamDecoder } from '../full-stream/decode-full-stream.ts';
import { DecodedCalls } from './decoded-calls.ts';
import { EarlierSteps } from './earlier-steps.ts';
import { observeModel } from './observe-model.ts';
import { guardTools } from './guard-tools.ts';
import { applyAnswers, findPendingParts } from './pending-parts.ts';
import { findFinish, planResume, toPromptContent, type ResumePlan } from './resume-plan.ts';
import { applyResult, settleCalls } from './settle-calls.ts';
import { toProviderCallIds } from '../shared/provider-call-ids.ts';
import { isFields, omit } from '../shared/read-fields.ts';
import { toAiSdkMessages } from '../messages/to-ai-sdk-messages.ts';
import { applyModelOutputs } from './apply-model-outputs.ts';
import type { UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';
import { toUniqueCallIds } from '../shared/unique-call-ids.ts';

/** Settings that the source controls. `streamRetries` of `ai` 7 would repeat earlier text in the stream. */
type OwnSettings =
  | 'model'
  | 'prompt'
  | 'messages'
  | 'system'
  | 'instructions'
  | 'tools'
  | 'abortSignal'
  | 'streamRetries';

/** Settings of `streamText` in the installed version of `ai`, except those that the source controls. */
export type StreamTextSettings = Omit<Parameters<typeof streamText>[0], OwnSettings>;

export interface ModelSourceOptions extends StreamTextSettings {
  /** Name of the source. Default: the model id. */
  name?: string;
  description?: string;
  instructions?: string | SystemModelMessage | SystemModelMessage[];
  tools?: ToolSet;
  /**
   * `step`: a run whose process has died or shut down continues in another one, after its last complete step. A tool that may have
   * run is reported to the model as interrupted, unless it has `metadata: { idempotent: true }`: then it runs again. Needs a store
   * that several processes share, or that survives the process. Default: such a run ends as `error: lost`.
   */
  recover?: 'step';
  /** Maximum time without output of the model, in milliseconds. */
  idleMs?: number;
  /** Installed major version of `ai`. 7 can send a few more parts back to a provider. Default: 6, which works with both. */
  version?: UIMessageVersion;
  /** Called with every part of the model's stream before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  /** Called before each call of the model. */
  onModelCall?: OnModelCall;
  onLoss?: OnLoss;
  /** The `streamText` to use if several versions of `ai` are installed. */
  streamText?: typeof streamText;
}

const maxSteps = 20;

/**
 * Creates a source from an AI SDK model. One run is one `streamText` call with its steps and tools. Client tools (without
 * `execute`, or declared by the client) and approvals pause the run; the next run continues its message from the history.
 */
export function modelSource(model: LanguageModel, options: ModelSourceOptions = {}): AgentSource {
  const name = options.name ?? (typeof model === 'string' ? model : model.modelId);
  const { description, recover, onModelCall } = options;
  const called = onModelCall ? observeModel(model, onModelCall) : model;
  return {
    name,
    pauses: 'replay',
    executesTools: true,
    run: (run, control) => runModel(called, options, run, control),
    ...(recover === 'step' && { resume: (run, from, control) => runModel(called, options, run, control, from) }),
    describe: async () => ({
      entry: name,
      agents: [{ name, kind: 'agent', ...(description !== undefined && { description }) }],
      edges: [],
    }),
  };
}

function runModel(
  model: LanguageModel,
  options: ModelSourceOptions,
  run: RunInput,
  control: RunControl,
  from?: ResumePoint,
): ReadableStream<AgentEvent> {
  const { onLoss = () => undefined, idleMs, onFrame } = options;
  const { signal } = control;
  const streamOptions = { signal, ...(idleMs !== undefined && { idleMs }), ...(onFrame && { onFrame }) };
  const plan = from && planResume(from, getProvider(model));
  const message = plan ? plan.content : applyAnswers(run);
  const waitingFor = message && !plan ? findPendingParts(message) : [];
  if (waitingFor.length > 0) {
    // Some answers are missing. Those given are recorded, and nothing runs before the last one.
    const paused: AgentEvent = { type: 'run-end', outcome: 'paused', waitingFor };
    const events = new ReadableStream({ start: (controller) => controller.enqueue(paused) });
    return sourceStream(events, seal(run, onLoss), streamOptions);
  }
  const tools = { ...toClientTools(run, options.tools ?? {}, onLoss), ...options.tools };
  const calls = new DecodedCalls();
  const reportsFinishReason = typeof model === 'string' || model.specificationVersion !== 'v2';
  const decoder = createFullStreamDecoder(run, {
    tools,
    provider: getProvider(model),
    onLoss,
    reportsFinishReason,
    ...(from && { from }),
  });
  const codec = compose(
    compose(
      prependEvents(plan?.closing ?? [], decoder),
      tap((event) => calls.observe(event)),
    ),
    seal(run, onLoss, from ? { log: from.events } : {}),
  );
  const call = { run, control, message, tools, calls, plan };
  return sourceStream((stop) => streamParts(model, options, { ...call, stop }), codec, streamOptions);
}

type ModelCall = {
  run: RunInput;
  control: RunControl;
  message: MessageContent | undefined;
  tools: ToolSet;
  calls: DecodedCalls;
  stop: AbortSignal;
  plan: ResumePlan | undefined;
};

async function* streamParts(model: LanguageModel, options: ModelSourceOptions, call: ModelCall): AsyncGenerator {
  if (!call.plan) return yield* streamModel(model, options, call);
  const settings: { [name: string]: unknown } = { ...options, stopWhen: options.stopWhen ?? stopAtMaxSteps };
  let content = call.plan.content;
  const getMessages = ({ stepId }: ToolPart): ModelMessage[] =>
    buildMessages(model, options, call, {
      ...content,
      parts: content.parts.filter((part) => part.stepId === undefined || part.stepId !== stepId),
    }).messages;
  for await (const result of settleCalls(call.plan.calls, { ...call, settings, getMessages })) {
    content = applyResult(content, result);
    yield result;
  }
  const steps = new EarlierSteps(call.plan.steps, content);
  const finishReason =
    findFinish(call.plan, content, call.tools) ?? ((await steps.areLast(settings)) ? 'tool-calls' : undefined);
  if (finishReason !== undefined) {
    const { rawFinishReason } = call.plan.steps.at(-1)?.end ?? {};
    return yield { type: 'finish', finishReason, rawFinishReason };
  }
  const message = toPromptContent(call.plan, content);
  yield* streamModel(model, steps.extend(settings), { ...call, message });
}

async function* streamModel(model: LanguageModel, options: ModelSourceOptions, call: ModelCall): AsyncGenerator {
  const { run, control, message, calls, stop } = call;
  const settings = omit(
    options,
    'name',
    'description',
    'idleMs',
    'tools',
    'onFrame',
    'onModelCall',
    'recover',
    'version',
    'onLoss',
  );
  const { streamText: stream = streamText, instructions, ...streamSettings } = settings;
  const { tools, isEcho, startStep } = guardTools(call.tools, async (wireId) =>
    control.barrier(await calls.claim(wireId)),
  );
  const { history, messages } = buildMessages(model, options, call, message);
  // `streamText` runs approved calls before it calls the model. They are in the history under the ids sent to the provider.
  const wireIds = toProviderCallIds(history, getProvider(model));
  const baseline = new Map<unknown, string>();
  for (const [index, part] of (message?.parts ?? []).entries()) {
    const unique = history.at(-1)?.content.parts[index];
    if (part.type !== 'tool-invocation' || part.state !== 'call' || unique?.type !== 'tool-invocation') continue;
    const wireId = wireIds.get(unique.toolCallId) ?? unique.toolCallId;
    calls.add(wireId, part.toolCallId);
    baseline.set(wireId, part.toolCallId);
  }
  const result = stream({
    stopWhen: stopAtMaxSteps,
    onError: () => undefined,
    ...streamSettings,
    streamRetries: undefined,
    model,
    tools,
    system: buildSystem(run, instructions),
    messages: await applyModelOutputs(messages, call.tools),
    // The history is trusted: handlers reject system messages of clients by default.
    allowSystemInMessages: true,
    abortSignal: stop,
  } as Parameters<typeof streamText>[0]);
  let finish: unknown;
  calls.stopOn(stop);
  calls.resume();
  for await (const part of result.fullStream) {
    calls.pause();
    // Held back: the run ends with `finish`, but callbacks and telemetry need the stream to be read to its end.
    if (part.type === 'finish') finish = part;
    else if (part.type === 'start-step') {
      baseline.clear();
      startStep();
      yield part;
    } else if (!isEcho(part)) yield restoreCallId(part, baseline);
    calls.resume();
  }
  calls.pause();
  if (finish !== undefined) yield finish;
}

function stopAtMaxSteps({ steps }: { steps: readonly unknown[] }): boolean {
  return steps.length >= maxSteps;
}

/** Builds the messages for the model: the history, followed by the message that the run continues. */
function buildMessages(
  model: LanguageModel,
  { version, onLoss }: ModelSourceOptions,
  { run }: ModelCall,
  message: MessageContent | undefined,
): { history: CanonicalMessage[]; messages: ModelMessage[] } {
  const history = toUniqueCallIds(buildHistory(run, message), () => undefined);
  const messages = toAiSdkMessages(history, {
    provider: getProvider(model),
    ...(message && { continues: run.messageId }),
    ...(version && { version }),
    ...(onLoss && { onLoss }),
  });
  return { history, messages };
}

/** A model given by name uses the AI Gateway. */
function getProvider(model: LanguageModel): string {
  return typeof model === 'string' ? 'gateway' : model.provider;
}

function restoreCallId(part: { type: string; toolCallId?: unknown }, ids: ReadonlyMap<unknown, string>): unknown {
  const toolCallId = ids.get(part.toolCallId);
  return toolCallId === undefined ? part : { ...part, toolCallId };
}

/** Returns the history, followed by the message that the run continues. */
function buildHistory(
  { history, messageId: id, threadId, startedAt }: RunInput,
  content?: MessageContent,
): CanonicalMessage[] {
  if (!content) return history;
  const message: CanonicalMessage = {
    id,
    threadId,
    role: 'assistant',
    type: 'text',
    content,
    createdAt: new Date(startedAt),
  };
  return [...history.filter((other) => other.id !== id), message];
}

/** Converts the client's tools. They have no `execute`, so a call pauses the run. */
function toClientTools(run: RunInput, own: ToolSet, onLoss: OnLoss): ToolSet {
  const tools: ToolSet = {};
  for (const { name, description, inputSchema } of run.tools) {
    if (Object.hasOwn(own, name)) {
      const why = 'The source has a tool with this name, which a client cannot replace.';
      onLoss({ kind: 'withheld', what: `client tool ${name}`, why });
      continue;
    }
    const schema: JsonObject = isFields(inputSchema) ? inputSchema : { type: 'object', properties: {} };
    tools[name] = {
      ...(description !== undefined && { description }),
      inputSchema: jsonSchema(schema),
    } as ToolSet[string];
  }
  return tools;
}

function buildSystem(
  { context }: RunInput,
  instructions: ModelSourceOptions['instructions'],
): string | SystemModelMessage[] | undefined {
  const contextText = context.map(({ description, value }) => `${description}:\n${value}`).join('\n\n');
  if (instructions === undefined) return contextText === '' ? undefined : contextText;
  if (typeof instructions === 'string') return contextText === '' ? instructions : `${instructions}\n\n${contextText}`;
  const messages = Array.isArray(instructions) ? instructions : [instructions];
  return contextText === '' ? messages : [...messages, { role: 'system', content: contextText }];
}

function tap(observe: (event: AgentEvent) => void): Codec<AgentEvent, AgentEvent> {
  return {
    feed(event, emit) {
      emit(event);
      observe(event);
    },
    end: () => undefined,
  };
}

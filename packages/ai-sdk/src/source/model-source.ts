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
  type RunControl,
  type RunInput,
  type SourceStreamOptions,
} from '@intertie/core';
import { jsonSchema, streamText, type LanguageModel, type SystemModelMessage, type ToolSet } from 'ai';
import { createFullStreamDecoder } from '../full-stream/decode-full-stream.ts';
import { DecodedCalls } from './decoded-calls.ts';
import { guardTools } from './guard-tools.ts';
import { applyAnswers, findPendingParts } from './pending-parts.ts';
import { toProviderCallIds } from '../shared/provider-call-ids.ts';
import { isFields, omit } from '../shared/read-fields.ts';
import { toAiSdkMessages } from '../messages/to-ai-sdk-messages.ts';
import { withModelOutputs } from '../messages/tool-model-outputs.ts';
import type { UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';
import { toUniqueCallIds } from '../shared/unique-call-ids.ts';

/** What the source decides by itself, and nobody else. `streamRetries` of 7 repeats in the stream what was said before. */
type OwnSettings =
  | 'model'
  | 'prompt'
  | 'messages'
  | 'system'
  | 'instructions'
  | 'tools'
  | 'abortSignal'
  | 'streamRetries';

/** The settings of `streamText`, whichever major is installed, except those that the source decides. */
export type StreamTextSettings = Omit<Parameters<typeof streamText>[0], OwnSettings>;

export interface ModelSourceOptions extends StreamTextSettings {
  /** The source's name. Default: the model's. */
  name?: string;
  description?: string;
  instructions?: string | SystemModelMessage | SystemModelMessage[];
  tools?: ToolSet;
  /** How long the model may be silent, in milliseconds. */
  idleMs?: number;
  /** The major of `ai` that is installed, for what only 7 can send back to a provider. Default: 6, which is right for both. */
  version?: UIMessageVersion;
  /** Is given every part of the model's stream before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
  /** The `streamText` to use, where there is more than one. */
  streamText?: typeof streamText;
}

const maxSteps = 20;

/**
 * Any AI SDK model as a source: one run is one `streamText` call, with its loop of turns and tools. Client tools (without
 * `execute`, or declared by the client) and approvals pause the run; the next one continues its message from the history.
 */
export function modelSource(model: LanguageModel, options: ModelSourceOptions = {}): AgentSource {
  const name = options.name ?? (typeof model === 'string' ? model : model.modelId);
  const { description } = options;
  return {
    name,
    pauses: 'replay',
    run: (run, control) => runModel(model, options, run, control),
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
): ReadableStream<AgentEvent> {
  const { onLoss = () => undefined, idleMs, onFrame } = options;
  const { signal } = control;
  const skin = { signal, ...(idleMs !== undefined && { idleMs }), ...(onFrame && { onFrame }) };
  const message = applyAnswers(run);
  const waitingFor = message ? findPendingParts(message) : [];
  if (waitingFor.length > 0) {
    // Some of the answers are still to come. They are recorded, and nothing runs before the last one.
    const paused: AgentEvent = { type: 'run-end', outcome: 'paused', waitingFor };
    return sourceStream(new ReadableStream({ start: (input) => input.enqueue(paused) }), seal(run, onLoss), skin);
  }
  const tools = { ...clientTools(run, options.tools ?? {}, onLoss), ...options.tools };
  const calls = new DecodedCalls();
  const reportsFinishReason = typeof model === 'string' || model.specificationVersion !== 'v2';
  const decoder = createFullStreamDecoder(run, { tools, provider: providerOf(model), onLoss, reportsFinishReason });
  const codec = compose(
    compose(
      decoder,
      tap((event) => calls.observe(event)),
    ),
    seal(run, onLoss),
  );
  return sourceStream((stop) => parts(model, options, { run, control, message, tools, calls, stop }), codec, skin);
}

type Call = {
  run: RunInput;
  control: RunControl;
  message: MessageContent | undefined;
  tools: ToolSet;
  calls: DecodedCalls;
  stop: AbortSignal;
};

async function* parts(model: LanguageModel, options: ModelSourceOptions, call: Call): AsyncGenerator {
  const { run, control, message, calls, stop } = call;
  const settings = omit(options, 'name', 'description', 'idleMs', 'tools', 'onFrame');
  const { streamText: stream = streamText, version, onLoss, instructions, ...streamSettings } = settings;
  const { tools, isEcho, startStep } = guardTools(call.tools, async (wireId) =>
    control.barrier(await calls.claim(wireId)),
  );
  const provider = providerOf(model);
  const history = toUniqueCallIds(historyOf(run, message), () => undefined);
  const messages = toAiSdkMessages(history, {
    provider,
    ...(message && { continues: run.messageId }),
    ...(version && { version }),
    ...(onLoss && { onLoss }),
  });
  // What has been approved runs before the model is asked again: its call is in the baseline, under the id that was sent.
  const sent = toProviderCallIds(history, provider);
  const baseline = new Map<unknown, string>();
  for (const [index, part] of (message?.parts ?? []).entries()) {
    const unique = history.at(-1)?.content.parts[index];
    if (part.type !== 'tool-invocation' || part.state !== 'call' || unique?.type !== 'tool-invocation') continue;
    const wireId = sent.get(unique.toolCallId) ?? unique.toolCallId;
    calls.add(wireId, part.toolCallId);
    baseline.set(wireId, part.toolCallId);
  }
  const result = stream({
    stopWhen: ({ steps }: { steps: unknown[] }) => steps.length >= maxSteps,
    onError: () => undefined,
    ...streamSettings,
    streamRetries: undefined,
    model,
    tools,
    system: systemOf(run, instructions),
    messages: await withModelOutputs(messages, call.tools),
    // They come from the thread's own history, not from a stranger.
    allowSystemInMessages: true,
    abortSignal: stop,
  } as Parameters<typeof streamText>[0]);
  let finish: unknown;
  calls.stopOn(stop);
  calls.resume();
  for await (const part of result.fullStream) {
    calls.pause();
    // The run ends with `finish`, and nothing is read after that; but callbacks and telemetry run when the stream is over.
    if (part.type === 'finish') finish = part;
    else if (part.type === 'start-step') {
      baseline.clear();
      startStep();
      yield part;
    } else if (!isEcho(part)) yield withOurId(part, baseline);
    calls.resume();
  }
  calls.pause();
  if (finish !== undefined) yield finish;
}

/** A model that is only named goes through the gateway. */
function providerOf(model: LanguageModel): string {
  return typeof model === 'string' ? 'gateway' : model.provider;
}

function withOurId(part: { type: string; toolCallId?: unknown }, ids: ReadonlyMap<unknown, string>): unknown {
  const toolCallId = ids.get(part.toolCallId);
  return toolCallId === undefined ? part : { ...part, toolCallId };
}

/** The branch, and behind it the message that goes on. */
function historyOf(
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

/** The client's own tools: they have no `execute`, so a call of one pauses the run. */
function clientTools(run: RunInput, own: ToolSet, onLoss: OnLoss): ToolSet {
  const tools: ToolSet = {};
  for (const { name, description, inputSchema } of run.tools) {
    if (Object.hasOwn(own, name)) {
      const why = 'The source has a tool of this name, and a client does not replace it.';
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

function systemOf(
  { context }: RunInput,
  instructions: ModelSourceOptions['instructions'],
): string | SystemModelMessage[] | undefined {
  const told = context.map(({ description, value }) => `${description}:\n${value}`).join('\n\n');
  if (instructions === undefined) return told === '' ? undefined : told;
  if (typeof instructions === 'string') return told === '' ? instructions : `${instructions}\n\n${told}`;
  const messages = Array.isArray(instructions) ? instructions : [instructions];
  return told === '' ? messages : [...messages, { role: 'system', content: told }];
}

function tap(see: (event: AgentEvent) => void): Codec<AgentEvent, AgentEvent> {
  return {
    feed(event, emit) {
      emit(event);
      see(event);
    },
    end: () => undefined,
  };
}

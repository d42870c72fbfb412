import type { CanonicalMessage, Json, JsonObject, MessageContent, MessagePart, Meta, OnLoss } from '@intertie/core';
import {
  repairHistory,
  type FilePart,
  type InterjectionPart,
  type TextPart,
  type ToolPart,
} from '@intertie/core/internal';
import type { ModelMessage } from 'ai';
import { filterInternal, type IncludeInternal } from '../shared/include-internal.ts';
import { unknownMediaType } from '../shared/file-body.ts';
import { toIdentity, withIntertie } from '../shared/intertie-metadata.ts';
import { CallProviders } from '../shared/call-providers.ts';
import { LateResults } from './late-results.ts';
import { callMetadata, encodeApproval, findCallers, isFreeText, toModelInput } from './model-tool-call.ts';
import { encodeToolOutput, withoutOpaqueData, type ModelToolOutput } from './model-tool-output.ts';
import { ModelSteps, type BuiltMessage, type ModelPart } from './model-steps.ts';
import { toProviderCallIds, type ProviderCallIds } from '../shared/provider-call-ids.ts';
import { parseProviderKind } from '../shared/provider-data.ts';
import { createProviderFilter, type ProviderFilter } from '../shared/provider-filter.ts';
import { defined, asText } from '../shared/read-fields.ts';
import type { UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';
import { toUniqueCallIds } from '../shared/unique-call-ids.ts';

export interface ToAiSdkMessagesOptions {
  /** Provider of the next request, as its model names it (`anthropic.messages`). Reasoning signed by others is left out. */
  provider?: string;
  /** Id of the message that the next run continues. Its open calls and answered approvals stay open. */
  continues?: string;
  /** Major version of `ai` that reads the messages. 7 has a few parts of its own, but also reads 6. Default: 6. */
  version?: UIMessageVersion;
  /** Whether the model receives internal messages between agents. Default: false. */
  includeInternal?: IncludeInternal;
  onLoss?: OnLoss;
}

/**
 * Converts canonical messages to model messages for `streamText` and `generateText` that every provider accepts: calls left
 * open by a crash are settled, each step of the model becomes an assistant message followed by the results of its calls,
 * signatures of other providers are left out, and tools that another provider ran become plain calls.
 */
export function toAiSdkMessages(
  messages: readonly CanonicalMessage[],
  options: ToAiSdkMessagesOptions = {},
): ModelMessage[] {
  const { onLoss = () => undefined, continues } = options;
  const unique = toUniqueCallIds(messages.map(addTextPart), onLoss);
  const { messages: repaired, repairs } = repairHistory(unique, { ...defined({ continues }) });
  for (const { kind, message: why, id, messageId } of repairs) {
    onLoss({ kind: 'repaired', what: kind, why, id: id ?? messageId });
  }
  const encoder = new ModelMessageEncoder(
    { ...options, onLoss },
    toProviderCallIds(unique, options.provider),
    options.onLoss !== undefined,
  );
  return encoder.join(repaired.flatMap((message) => encoder.encode(message))) as ModelMessage[];
}

function toParts({ content }: BuiltMessage): ModelPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Finds the part before another, skipping sources, which are not sent to a model. */
function findPreviousPart(parts: readonly MessagePart[], index: number): MessagePart | undefined {
  return parts.slice(0, index).findLast(({ type }) => type !== 'source');
}

function findNextPart(parts: readonly MessagePart[], index: number): MessagePart | undefined {
  return parts.slice(index + 1).find(({ type }) => type !== 'source');
}

/** Adds a text part to an imported message that has its text only in `content`. */
function addTextPart(message: CanonicalMessage): CanonicalMessage {
  const { parts, content } = message.content;
  if (parts.length > 0 || content === undefined || content === '') return message;
  return { ...message, content: { ...message.content, parts: [{ type: 'text', text: content }] } };
}

/** Encodes canonical messages one by one. Holds the state of the message being encoded. */
class ModelMessageEncoder {
  #filter: ProviderFilter;
  #onLoss: OnLoss;
  #version: UIMessageVersion;
  #includeInternal: IncludeInternal;
  #callIds: ProviderCallIds;
  #providers = new CallProviders({ format: 2, parts: [] });
  #lateResults = new LateResults([]);
  #callers: ReadonlySet<string> = new Set();
  /** Canonical ids of reasoning parts, for the loss report. */
  #reasoningIds = new WeakMap<ModelPart, string | undefined>();
  /** Whether our metadata is included. Not if a provider is given: it would not read it. */
  #hasMetadata: boolean;
  /** Whether an `onLoss` callback was given. */
  #reportsLosses: boolean;

  constructor(options: ToAiSdkMessagesOptions & { onLoss: OnLoss }, callIds: ProviderCallIds, reportsLosses: boolean) {
    this.#reportsLosses = reportsLosses;
    const { provider, version = 6, includeInternal = false, onLoss } = options;
    this.#callIds = callIds;
    this.#filter = createProviderFilter(provider, onLoss);
    this.#onLoss = onLoss;
    this.#version = version;
    this.#includeInternal = includeInternal;
    this.#hasMetadata = provider === undefined;
  }

  /** Joins consecutive user messages if the provider requires alternating roles. */
  join(messages: BuiltMessage[]): BuiltMessage[] {
    if (this.#filter.supportsRepeatedUser) return messages;
    const joined: BuiltMessage[] = [];
    for (const message of messages) {
      const last = joined.at(-1);
      if (last?.role !== 'user' || message.role !== 'user') joined.push(message);
      else joined[joined.length - 1] = { ...last, ...message, content: [last, message].flatMap(toParts) };
    }
    return joined;
  }

  encode(message: CanonicalMessage): BuiltMessage[] {
    // Almost every message has unsupported fields, so skip the work if no callback reads the losses.
    if (this.#reportsLosses) this.#reportUnsupportedFields(message);
    const messages = this.#toMessages(message);
    if (!this.#hasMetadata) return messages;
    const metadata = { messageId: message.id, createdAt: message.createdAt.toISOString() };
    for (const built of messages) built.providerOptions = withIntertie(built.providerOptions, metadata)!;
    return messages;
  }

  #toMessages(message: CanonicalMessage): BuiltMessage[] {
    switch (message.role) {
      case 'system': {
        const texts = message.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
        for (const part of message.content.parts) if (part.type !== 'text') this.#reportUnsupported(part);
        return texts.length > 0 ? [{ role: 'system', content: texts.join(''), ...this.#messageOptions(message) }] : [];
      }
      case 'user': {
        const content = this.#encodeUserContent(message.content.parts);
        return content.length > 0 ? [{ role: 'user', content, ...this.#messageOptions(message) }] : [];
      }
      default:
        return this.#encodeAssistant(message.content);
    }
  }

  /** Options of user and system messages. Those of an answer were reported by the provider and are not sent back. */
  #messageOptions({ content }: CanonicalMessage): { providerOptions?: Meta } {
    return defined({ providerOptions: this.#filter.filterMetadata(content.providerMetadata) });
  }

  #encodeUserContent(parts: readonly MessagePart[]): ModelPart[] {
    return parts.flatMap((part): ModelPart[] => {
      if (part.type === 'text') {
        if (part.text.trim() !== '') return [{ type: 'text', text: part.text, ...this.#options(part) }];
        this.#reportEmpty(part);
        return [];
      }
      if (part.type === 'file') return this.#encodeFile(part) ?? [];
      this.#reportUnsupported(part);
      return [];
    });
  }

  #encodeAssistant(content: MessageContent): BuiltMessage[] {
    const messages: BuiltMessage[] = [];
    const { parts } = content;
    let steps = new ModelSteps();
    const flush = (): void => {
      messages.push(...steps.toMessages((part) => this.#reportTrailingReasoning(part)));
      steps = new ModelSteps();
    };
    this.#providers = new CallProviders(content);
    this.#lateResults = new LateResults(parts);
    this.#callers = findCallers(parts);
    for (const [index, part] of parts.entries()) {
      this.#lateResults.writeAtStep(part.stepId, steps);
      const admitted = filterInternal(part, this.#includeInternal, this.#onLoss);
      if (admitted?.type === 'interjection') {
        flush();
        messages.push(...this.#encodeInterjection(admitted));
      } else if (admitted?.type === 'text' && admitted.text.trim() === '') {
        this.#encodeBlankText(admitted, findPreviousPart(parts, index), findNextPart(parts, index), steps);
      } else if (admitted) this.#encodePart(admitted, steps);
      this.#lateResults.writeAfter(part, steps);
    }
    this.#lateResults.writeRemaining(steps);
    flush();
    return messages;
  }

  /**
   * Sends empty text only to the provider whose metadata it carries. White space between two texts separates sentences: it
   * stays a part if one of them carries metadata, like Anthropic's citations, and is otherwise appended to the text before.
   */
  #encodeBlankText(
    part: TextPart,
    before: MessagePart | undefined,
    after: MessagePart | undefined,
    steps: ModelSteps,
  ): void {
    const hasProviderMetadata = (other: MessagePart | undefined): boolean => {
      const meta = other?.type === 'text' ? this.#filter.filterMetadata(other.providerMetadata) : undefined;
      return meta !== undefined && this.#filter.getCallStyle(Object.keys(meta)) === 'provider';
    };
    const isBetween = before?.type === 'text' && after?.type === 'text' && part.text !== '';
    if (hasProviderMetadata(part) || (isBetween && (hasProviderMetadata(before) || hasProviderMetadata(after))))
      return this.#encodePart(part, steps);
    const last = isBetween ? steps.get(part, 'text').content.at(-1) : undefined;
    if (last?.type !== 'text') return this.#reportEmpty(part);
    last.text = `${asText(last.text) ?? ''}${part.text}`;
  }

  /** Most providers refuse system messages in the middle of a conversation, so they are sent as the user's. */
  #encodeInterjection(part: InterjectionPart): BuiltMessage[] {
    const content = this.#encodeUserContent(part.parts);
    const { role, name } = part;
    const metadata = { interjection: { role, ...defined({ name }), ...toIdentity(part) } };
    const providerOptions = this.#hasMetadata ? withIntertie(part.providerMetadata, metadata) : undefined;
    return content.length > 0 ? [{ role: 'user', content, ...(providerOptions && { providerOptions }) }] : [];
  }

  #encodePart(part: Exclude<MessagePart, InterjectionPart>, steps: ModelSteps): void {
    switch (part.type) {
      case 'text': {
        const { text, citations } = part;
        steps.get(part, 'text').content.push({ type: 'text', text, ...this.#options(part, defined({ citations })) });
        return;
      }
      case 'reasoning': {
        const { reasoning: text, details, providerMetadata } = part;
        if (this.#filter.isSignedByOther(providerMetadata)) {
          const why = 'Another provider signed it, which this one would refuse.';
          return this.#onLoss({ kind: 'withheld', what: 'reasoning', why, ...defined({ id: part.id }) });
        }
        if (text === '' && !providerMetadata) return this.#reportEmpty(part);
        const reasoning = { type: 'reasoning', text, ...this.#options(part, defined({ details })) };
        this.#reasoningIds.set(reasoning, part.id);
        steps.get(part, 'text').content.push(reasoning);
        return;
      }
      case 'tool-invocation':
        return this.#encodeCall(part, steps);
      case 'file': {
        if (!this.#filter.supportsAssistantFiles) {
          const why = 'The provider does not accept files in assistant messages.';
          return this.#onLoss({ kind: 'unsupported', what: 'file', why, ...defined({ id: part.id }) });
        }
        const file = this.#encodeFile(part);
        if (file) steps.get(part, 'text').content.push(...file);
        return;
      }
      case 'data': {
        const kind = this.#version === 7 ? parseProviderKind(part.name) : undefined;
        if (kind === undefined) return this.#reportUnsupported(part);
        const [provider] = kind.split('.', 1);
        if (this.#filter.getCallStyle([provider!]) !== 'provider') {
          const why = `Only ${provider} can read it.`;
          return this.#onLoss({ kind: 'unsupported', what: kind, why, ...defined({ id: part.id }) });
        }
        steps.get(part, 'text').content.push({ type: 'custom', kind, ...this.#options(part) });
        return;
      }
      default:
        this.#reportUnsupported(part);
    }
  }

  #encodeCall(part: ToolPart, steps: ModelSteps): void {
    const { toolCallId: id, toolName, executor, approval, args = {} } = part;
    const isProviders = executor === 'provider';
    const style = isProviders ? this.#filter.getCallStyle(this.#providers.getKeys(part)) : 'plain';
    const toolCallId = this.#callIds.get(id) ?? id;
    const isUnsettled = isProviders && part.error?.code === 'unsettled';
    // Kept for calls made by a provider's program: the provider refuses them without the program.
    if (isUnsettled && !(style === 'provider' && this.#callers.has(toolCallId))) {
      const why = 'The provider did not report a result of its own tool, and accepts none from the client.';
      return this.#onLoss({ kind: 'repaired', what: 'provider call', why, id });
    }
    if (!this.#filter.supportsCalls) return this.#encodeCallAsText(part, steps);
    if (isProviders && style === 'plain') return this.#encodePlainCall(part, steps);
    const step = steps.get(part, 'call');
    const asked = approval?.kind === 'approval' ? encodeApproval(approval, toolCallId, isProviders) : undefined;
    const isOpen = isProviders || asked?.response !== undefined;
    const settled = isUnsettled ? undefined : encodeToolOutput(part, this.#onLoss);
    const output = settled ?? (isOpen ? undefined : this.#settleInterrupted(part));
    const isText =
      isFreeText(this.#filter.filterMetadata(part.providerMetadata)) &&
      this.#filter.getCallStyle(['openai']) === 'provider';
    const input = toModelInput(args, part.invalid === true, isText);
    step.content.push({
      type: 'tool-call',
      toolCallId,
      toolName,
      input,
      ...(isProviders && { providerExecuted: true }),
      ...this.#options(part, { ...callMetadata(part, input), ...(toolCallId !== id && { toolCallId: id }) }),
    });
    if (asked) step.content.push(asked.request);
    if (asked?.response) step.results.push(asked.response);
    if (output === undefined) return;
    const providerOptions = this.#filter.filterMetadata(part.resultMetadata);
    const result = { type: 'tool-result', toolCallId, toolName, output, ...defined({ providerOptions }) };
    if (!isProviders) step.results.push(result);
    else if (!this.#lateResults.defer(part, result)) step.content.push(result);
  }

  /** Encodes a call that another provider ran as a plain function call, which every provider accepts. */
  #encodePlainCall(part: ToolPart, steps: ModelSteps): void {
    const { toolCallId: id, args = {} } = part;
    const output = this.#foreignOutput(part, 'a plain call');
    if (output === undefined) return;
    const toolCallId = this.#callIds.get(id) ?? id;
    const toolName = part.toolName.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'tool';
    const step = steps.get(part, 'call');
    step.isSplit = true;
    step.content.push({ type: 'tool-call', toolCallId, toolName, input: toModelInput(args, false, false) });
    step.results.push({ type: 'tool-result', toolCallId, toolName, output });
  }

  #encodeCallAsText(part: ToolPart, steps: ModelSteps): void {
    const output = this.#foreignOutput(part, 'text');
    if (output === undefined) return;
    const result = output.type === 'execution-denied' ? 'denied' : JSON.stringify(output.value);
    const text = `The tool ${part.toolName} was called with ${JSON.stringify(part.args ?? {})}. Result: ${result}`;
    steps.get(part, 'text').content.push({ type: 'text', text });
  }

  /** Encodes the result of a call that the provider does not accept unchanged. Undefined: there is no result. */
  #foreignOutput(part: ToolPart, form: string): ModelToolOutput | undefined {
    const { toolCallId: id, toolName } = part;
    const output = encodeToolOutput(part, this.#onLoss);
    const why =
      output === undefined
        ? `The call of ${toolName} has no result, and only the provider that ran it can continue it.`
        : `The provider does not accept the call of ${toolName} unchanged; it is sent as ${form}.`;
    this.#onLoss({ kind: 'unsupported', what: 'provider call', why, id });
    return output && withoutOpaqueData(output, () => this.#reportOpaqueData(part));
  }

  #reportOpaqueData({ toolCallId: id, toolName }: ToolPart): void {
    const why = `Encoded data in the result of ${toolName} is left out: only the provider that made it can use it.`;
    this.#onLoss({ kind: 'withheld', what: 'tool result', why, id });
  }

  /** Settles an open call of the continued message with an error, since the model requires a result. */
  #settleInterrupted({ toolCallId: id, toolName }: ToolPart): ModelToolOutput {
    this.#onLoss({ kind: 'repaired', what: 'unsettled-call', why: `The call of ${toolName} has no result.`, id });
    return { type: 'error-text', value: 'The call was interrupted. Whether the tool has run is not known.' };
  }

  #encodeFile(part: FilePart): ModelPart[] | undefined {
    const { mimeType, filename, reasoning, reference } = part;
    if (reasoning && this.#version === 6) {
      this.#reportUnsupported(part);
      return undefined;
    }
    if (reference?.provider !== undefined && this.#filter.isSignedByOther({ [reference.provider]: {} })) {
      const why = `Only ${reference.provider} can read this file.`;
      this.#onLoss({ kind: 'unsupported', what: 'file', why, ...defined({ id: part.id }) });
      return undefined;
    }
    const data = getFileData(part, this.#version);
    if (data === undefined) {
      const why = 'Its URL is relative, and the model cannot resolve it. Use an absolute URL.';
      this.#onLoss({ kind: 'unsupported', what: 'file', why, ...defined({ id: part.id }) });
      return undefined;
    }
    const metadata = { ...(mimeType === undefined && { untyped: true }), ...defined({ reference }) };
    return [
      {
        type: reasoning ? 'reasoning-file' : 'file',
        data,
        mediaType: mimeType ?? unknownMediaType,
        ...(!reasoning && defined({ filename })),
        ...this.#options(part, metadata),
      },
    ];
  }

  #options(part: MessagePart, metadata: JsonObject = {}): { providerOptions?: Meta } {
    const meta = this.#filter.filterMetadata(part.providerMetadata);
    const providerOptions = this.#hasMetadata ? withIntertie(meta, { ...toIdentity(part), ...metadata }) : meta;
    return providerOptions ? { providerOptions } : {};
  }

  #reportTrailingReasoning(part: ModelPart): void {
    const id = this.#reasoningIds.get(part);
    const why = 'Nothing follows it in its step, and providers refuse trailing reasoning.';
    this.#onLoss({ kind: 'repaired', what: 'reasoning', why, ...defined({ id }) });
  }

  #reportEmpty(part: MessagePart): void {
    this.#onLoss({
      kind: 'repaired',
      what: `empty ${part.type}`,
      why: 'It was left out.',
      ...defined({ id: part.id }),
    });
  }

  #reportUnsupported(part: MessagePart): void {
    const why = 'Model messages carry only text, files, reasoning and calls. The store keeps the rest.';
    this.#onLoss({ kind: 'unsupported', what: part.type, why, ...defined({ id: part.id }) });
  }

  #reportUnsupportedFields({ id, role, content, state, sourceState, runId, status }: CanonicalMessage): void {
    const { metadata, agents, steps, runs } = content;
    const providerMetadata = role === 'assistant' ? content.providerMetadata : undefined;
    const lost = Object.keys(
      defined({ metadata, agents, steps, runs, providerMetadata, state, sourceState, runId, status }),
    );
    if (lost.length === 0) return;
    const why = `A model message has no field for ${lost.join(', ')}. The store keeps them.`;
    this.#onLoss({ kind: 'unsupported', what: 'message', why, id });
  }
}

/** Returns the data of a file part. Undefined: its URL is relative. */
function getFileData(part: FilePart, version: UIMessageVersion): Json | URL | undefined {
  const { data, url, reference } = part;
  if (url === undefined) return data ?? toReferenceData(reference, version);
  return data ?? (URL.canParse(url) ? new URL(url) : undefined);
}

/** `ai` 7 has a shape for references. In 6, providers recognize their own ids by their prefix. */
function toReferenceData(reference: FilePart['reference'], version: UIMessageVersion): Json | undefined {
  if (reference === undefined || version === 6) return reference?.ref;
  return { type: 'reference', reference: { [reference.provider ?? 'unknown']: reference.ref } };
}

import type { CanonicalMessage, JsonObject, MessageContent, MessagePart, Meta, OnLoss } from '@intertie/core';
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
import { modelApproval } from './model-approval.ts';
import { modelFileData } from './model-file-data.ts';
import { CallProviders } from '../shared/call-providers.ts';
import { LateResults } from './late-results.ts';
import { findCallers, inputOf, isFreeText, toolSlot } from './model-tool-call.ts';
import { encodeToolOutput, withoutOpaqueData, type ModelToolOutput } from './model-tool-output.ts';
import { Turns, type BuiltMessage, type ModelPart } from './group-model-messages.ts';
import { toProviderCallIds, type ProviderCallIds } from '../shared/provider-call-ids.ts';
import { parseProviderKind } from '../shared/provider-data.ts';
import { createProviderFilter, type ProviderFilter } from '../shared/provider-filter.ts';
import { defined, asText } from '../shared/read-fields.ts';
import type { UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';
import { toUniqueCallIds } from '../shared/unique-call-ids.ts';

export interface ToAiSdkMessagesOptions {
  /** The provider that is asked next, as its model names it (`anthropic.messages`): what others signed is left out. */
  provider?: string;
  /** The id of the message that the next run continues: its open calls and answered approvals stay open. */
  continues?: string;
  /** The major of `ai` that reads them. 6 is also right for 7, which has parts of its own for a few things. Default: 6. */
  version?: UIMessageVersion;
  /** Whether the model is shown what agents said among themselves. Default: no. */
  includeInternal?: IncludeInternal;
  onLoss?: OnLoss;
}

/**
 * Converts canonical messages to the model messages of `streamText` and `generateText`, such that every provider takes them:
 * calls that a crash left open are settled, each turn of the model is an assistant message with the results of its calls
 * behind it, another provider's signatures are left out, and tools that another provider ran are plain calls. Synchronous.
 */
export function toAiSdkMessages(
  messages: readonly CanonicalMessage[],
  options: ToAiSdkMessagesOptions = {},
): ModelMessage[] {
  const { onLoss = () => undefined, continues } = options;
  const unique = toUniqueCallIds(messages.map(withText), onLoss);
  const { messages: sound, repairs } = repairHistory(unique, { ...defined({ continues }) });
  for (const { kind, message: why, id, messageId } of repairs) {
    onLoss({ kind: 'repaired', what: kind, why, id: id ?? messageId });
  }
  const writer = new ModelMessageWriter(
    { ...options, onLoss },
    toProviderCallIds(unique, options.provider),
    options.onLoss !== undefined,
  );
  return writer.join(sound.flatMap((message) => writer.write(message))) as ModelMessage[];
}

function partsOf({ content }: BuiltMessage): ModelPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** The part before another, past sources: they stand between a model's texts and are not sent. */
function saidBefore(parts: readonly MessagePart[], index: number): MessagePart | undefined {
  return parts.slice(0, index).findLast(({ type }) => type !== 'source');
}

function saidAfter(parts: readonly MessagePart[], index: number): MessagePart | undefined {
  return parts.slice(index + 1).find(({ type }) => type !== 'source');
}

/** An imported message may have its text beside the parts, and none in them. */
function withText(message: CanonicalMessage): CanonicalMessage {
  const { parts, content } = message.content;
  if (parts.length > 0 || content === undefined || content === '') return message;
  return { ...message, content: { ...message.content, parts: [{ type: 'text', text: content }] } };
}

class ModelMessageWriter {
  #filter: ProviderFilter;
  #onLoss: OnLoss;
  #version: UIMessageVersion;
  #includeInternal: IncludeInternal;
  #callIds: ProviderCallIds;
  /** Of the message that is being written. */
  #providers = new CallProviders({ format: 2, parts: [] });
  #late = new LateResults([]);
  #callers: ReadonlySet<string> = new Set();
  /** Whose reasoning a part is, for the ledger. */
  #thoughts = new WeakMap<ModelPart, string | undefined>();
  /** With a provider named, only what it reads is sent; without one, our slot travels too and comes back. */
  #withSlot: boolean;
  /** Whether anybody is told of losses. */
  #isHeard: boolean;

  constructor(options: ToAiSdkMessagesOptions & { onLoss: OnLoss }, callIds: ProviderCallIds, isHeard: boolean) {
    this.#isHeard = isHeard;
    const { provider, version = 6, includeInternal = false, onLoss } = options;
    this.#callIds = callIds;
    this.#filter = createProviderFilter(provider, onLoss);
    this.#onLoss = onLoss;
    this.#version = version;
    this.#includeInternal = includeInternal;
    this.#withSlot = provider === undefined;
  }

  /** Joins the user's messages that follow each other, where the provider wants roles to alternate. */
  join(messages: BuiltMessage[]): BuiltMessage[] {
    if (this.#filter.supportsRepeatedUser) return messages;
    const joined: BuiltMessage[] = [];
    for (const message of messages) {
      const last = joined.at(-1);
      if (last?.role !== 'user' || message.role !== 'user') joined.push(message);
      else joined[joined.length - 1] = { ...last, ...message, content: [last, message].flatMap(partsOf) };
    }
    return joined;
  }

  write(message: CanonicalMessage): BuiltMessage[] {
    // Most messages have something of the kind: of a long history that is a long report, if anybody reads it.
    if (this.#isHeard) this.#reportDirectories(message);
    const messages = this.#messagesOf(message);
    if (!this.#withSlot) return messages;
    const intertie = { messageId: message.id, createdAt: message.createdAt.toISOString() };
    for (const made of messages) made.providerOptions = withIntertie(made.providerOptions, intertie)!;
    return messages;
  }

  #messagesOf(message: CanonicalMessage): BuiltMessage[] {
    switch (message.role) {
      case 'system': {
        const texts = message.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
        this.#reportUnsaid(message.content.parts.filter(({ type }) => type !== 'text'));
        return texts.length > 0 ? [{ role: 'system', content: texts.join(''), ...this.#messageOptions(message) }] : [];
      }
      case 'user': {
        const content = this.#userContent(message.content.parts);
        return content.length > 0 ? [{ role: 'user', content, ...this.#messageOptions(message) }] : [];
      }
      default:
        return this.#assistant(message.content);
    }
  }

  /** Of what a person said: of an answer they are what the provider reported, and it wants none of it back. */
  #messageOptions({ content }: CanonicalMessage): { providerOptions?: Meta } {
    return defined({ providerOptions: this.#filter.filterMetadata(content.providerMetadata) });
  }

  #userContent(parts: readonly MessagePart[]): ModelPart[] {
    return parts.flatMap((part): ModelPart[] => {
      if (part.type === 'text') {
        if (part.text.trim() !== '') return [{ type: 'text', text: part.text, ...this.#options(part) }];
        this.#empty(part);
        return [];
      }
      if (part.type === 'file') return this.#file(part) ?? [];
      this.#unsaid(part);
      return [];
    });
  }

  #assistant(content: MessageContent): BuiltMessage[] {
    const messages: BuiltMessage[] = [];
    const { parts } = content;
    let turns: Turns = new Turns();
    const flush = (): void => {
      messages.push(...turns.messages((part) => this.#unfinished(part)));
      turns = new Turns();
    };
    this.#providers = new CallProviders(content);
    this.#late = new LateResults(parts);
    this.#callers = findCallers(parts);
    for (const [index, part] of parts.entries()) {
      this.#late.atStep(part.stepId, turns);
      const admitted = filterInternal(part, this.#includeInternal, this.#onLoss);
      if (admitted?.type === 'interjection') {
        flush();
        messages.push(...this.#interjection(admitted));
      } else if (admitted?.type === 'text' && admitted.text.trim() === '') {
        this.#blank(admitted, saidBefore(parts, index), saidAfter(parts, index), turns);
      } else if (admitted) this.#say(admitted, turns);
      this.#late.behind(part, turns);
    }
    this.#late.atEnd(turns);
    flush();
    return messages;
  }

  /**
   * Empty text goes back only to the provider that marked it. White space between two texts separates their sentences: it
   * stays a part where one of them is marked, as Anthropic's citations are, and is else added to the text before it.
   */
  #blank(part: TextPart, before: MessagePart | undefined, after: MessagePart | undefined, turns: Turns): void {
    const isMarked = (other: MessagePart | undefined): boolean => {
      const meta = other?.type === 'text' ? this.#filter.filterMetadata(other.providerMetadata) : undefined;
      return meta !== undefined && this.#filter.getCallStyle(Object.keys(meta)) === 'provider';
    };
    const isBetween = before?.type === 'text' && after?.type === 'text' && part.text !== '';
    if (isMarked(part) || (isBetween && (isMarked(before) || isMarked(after)))) return this.#say(part, turns);
    const last = isBetween ? turns.of(part, 'words').said.at(-1) : undefined;
    if (last?.type !== 'text') return this.#empty(part);
    last.text = `${asText(last.text) ?? ''}${part.text}`;
  }

  /** A system's words in the middle of a conversation are refused by most providers: the model reads them as the user's. */
  #interjection(part: InterjectionPart): BuiltMessage[] {
    const content = this.#userContent(part.parts);
    const { role, name } = part;
    const intertie = { interjection: { role, ...defined({ name }), ...toIdentity(part) } };
    const providerOptions = this.#withSlot ? withIntertie(part.providerMetadata, intertie) : undefined;
    return content.length > 0 ? [{ role: 'user', content, ...(providerOptions && { providerOptions }) }] : [];
  }

  #say(part: Exclude<MessagePart, InterjectionPart>, turns: Turns): void {
    switch (part.type) {
      case 'text': {
        const { text, citations } = part;
        turns.of(part, 'words').said.push({ type: 'text', text, ...this.#options(part, defined({ citations })) });
        return;
      }
      case 'reasoning': {
        const { reasoning: text, details, providerMetadata } = part;
        if (this.#filter.isSignedByOther(providerMetadata)) {
          const why = 'Another provider signed it, and this one would refuse it.';
          return this.#onLoss({ kind: 'withheld', what: 'reasoning', why, ...defined({ id: part.id }) });
        }
        if (text === '' && !providerMetadata) return this.#empty(part);
        const thought = { type: 'reasoning', text, ...this.#options(part, defined({ details })) };
        this.#thoughts.set(thought, part.id);
        turns.of(part, 'words').said.push(thought);
        return;
      }
      case 'tool-invocation':
        return this.#tool(part, turns);
      case 'file': {
        if (!this.#filter.supportsAssistantFiles) {
          const why = 'The provider takes no files in an assistant message.';
          return this.#onLoss({ kind: 'unsupported', what: 'file', why, ...defined({ id: part.id }) });
        }
        const file = this.#file(part);
        if (file) turns.of(part, 'words').said.push(...file);
        return;
      }
      case 'data': {
        const kind = this.#version === 7 ? parseProviderKind(part.name) : undefined;
        if (kind === undefined) return this.#unsaid(part);
        const [provider] = kind.split('.', 1);
        if (this.#filter.getCallStyle([provider!]) !== 'provider') {
          const why = `Only ${provider} reads it.`;
          return this.#onLoss({ kind: 'unsupported', what: kind, why, ...defined({ id: part.id }) });
        }
        turns.of(part, 'words').said.push({ type: 'custom', kind, ...this.#options(part) });
        return;
      }
      default:
        this.#unsaid(part);
    }
  }

  #tool(part: ToolPart, turns: Turns): void {
    const { toolCallId: id, toolName, executor, approval, args = {} } = part;
    const isProviders = executor === 'provider';
    const style = isProviders ? this.#filter.getCallStyle(this.#providers.getKeys(part)) : 'plain';
    const toolCallId = this.#callIds.get(id) ?? id;
    const isUnsettled = isProviders && part.error?.code === 'unsettled';
    // A provider refuses calls of its program without the program.
    if (isUnsettled && !(style === 'provider' && this.#callers.has(toolCallId))) {
      const why = 'The provider did not report a result of its own tool, and accepts none from the client.';
      return this.#onLoss({ kind: 'repaired', what: 'provider call', why, id });
    }
    if (!this.#filter.supportsCalls) return this.#callAsText(part, turns);
    if (isProviders && style === 'plain') return this.#plainCall(part, turns);
    const turn = turns.of(part, 'call');
    const asked = approval?.kind === 'approval' ? modelApproval(approval, toolCallId, isProviders) : undefined;
    const isOpen = isProviders || asked?.response !== undefined;
    const settled = isUnsettled ? undefined : encodeToolOutput(part, this.#onLoss);
    const output = settled ?? (isOpen ? undefined : this.#interrupted(part));
    const isText =
      isFreeText(this.#filter.filterMetadata(part.providerMetadata)) &&
      this.#filter.getCallStyle(['openai']) === 'provider';
    const input = inputOf(args, part.invalid === true, isText);
    turn.said.push({
      type: 'tool-call',
      toolCallId,
      toolName,
      input,
      ...(isProviders && { providerExecuted: true }),
      ...this.#options(part, { ...toolSlot(part, input), ...(toolCallId !== id && { toolCallId: id }) }),
    });
    if (asked) turn.said.push(asked.request);
    if (asked?.response) turn.results.push(asked.response);
    if (output === undefined) return;
    const providerOptions = this.#filter.filterMetadata(part.resultMetadata);
    const result = { type: 'tool-result', toolCallId, toolName, output, ...defined({ providerOptions }) };
    if (!isProviders) turn.results.push(result);
    else if (!this.#late.hold(part, result)) turn.said.push(result);
  }

  /** A call that another provider ran, with its result, as any function's: in messages that every provider takes. */
  #plainCall(part: ToolPart, turns: Turns): void {
    const { toolCallId: id, args = {} } = part;
    const output = this.#foreignOutput(part, 'a plain call');
    if (output === undefined) return;
    const toolCallId = this.#callIds.get(id) ?? id;
    const toolName = part.toolName.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'tool';
    const turn = turns.of(part, 'call');
    turn.isSplit = true;
    turn.said.push({ type: 'tool-call', toolCallId, toolName, input: inputOf(args, false, false) });
    turn.results.push({ type: 'tool-result', toolCallId, toolName, output });
  }

  #callAsText(part: ToolPart, turns: Turns): void {
    const output = this.#foreignOutput(part, 'text');
    if (output === undefined) return;
    const result = output.type === 'execution-denied' ? 'denied' : JSON.stringify(output.value);
    const text = `The tool ${part.toolName} was called with ${JSON.stringify(part.args ?? {})}. Result: ${result}`;
    turns.of(part, 'words').said.push({ type: 'text', text });
  }

  /** The result of a call whose own form the target does not take. Undefined: there is none, and the call is left out. */
  #foreignOutput(part: ToolPart, form: string): ModelToolOutput | undefined {
    const { toolCallId: id, toolName } = part;
    const output = encodeToolOutput(part, this.#onLoss);
    const why =
      output === undefined
        ? `The call of ${toolName} has no result, and only the provider that ran it could continue it.`
        : `The provider does not take the call of ${toolName} as it was made; it is sent as ${form}.`;
    this.#onLoss({ kind: 'unsupported', what: 'provider call', why, id });
    return output && withoutOpaqueData(output, () => this.#opaque(part));
  }

  #opaque({ toolCallId: id, toolName }: ToolPart): void {
    const why = `Encoded data in the result of ${toolName} is left out: it is of use only to the provider that made it.`;
    this.#onLoss({ kind: 'withheld', what: 'tool result', why, id });
  }

  /** A call of the continued message that nobody settles: the model must not be left waiting for it. */
  #interrupted({ toolCallId: id, toolName }: ToolPart): ModelToolOutput {
    this.#onLoss({ kind: 'repaired', what: 'unsettled-call', why: `The call of ${toolName} has no result.`, id });
    return { type: 'error-text', value: 'The call was interrupted. Whether the tool has run is not known.' };
  }

  #file(part: FilePart): ModelPart[] | undefined {
    const { mimeType, filename, reasoning, reference } = part;
    if (reasoning && this.#version === 6) {
      this.#unsaid(part);
      return undefined;
    }
    if (reference?.provider !== undefined && this.#filter.isSignedByOther({ [reference.provider]: {} })) {
      const why = `Only ${reference.provider} has this file.`;
      this.#onLoss({ kind: 'unsupported', what: 'file', why, ...defined({ id: part.id }) });
      return undefined;
    }
    const data = modelFileData(part, this.#version);
    if (data === undefined) {
      const why = 'Its URL is relative, and nobody but the page knows where that leads. Give an absolute one.';
      this.#onLoss({ kind: 'unsupported', what: 'file', why, ...defined({ id: part.id }) });
      return undefined;
    }
    const intertie = { ...(mimeType === undefined && { untyped: true }), ...defined({ reference }) };
    return [
      {
        type: reasoning ? 'reasoning-file' : 'file',
        data,
        mediaType: mimeType ?? unknownMediaType,
        ...(!reasoning && defined({ filename })),
        ...this.#options(part, intertie),
      },
    ];
  }

  #options(part: MessagePart, more: JsonObject = {}): { providerOptions?: Meta } {
    const meta = this.#filter.filterMetadata(part.providerMetadata);
    const providerOptions = this.#withSlot ? withIntertie(meta, { ...toIdentity(part), ...more }) : meta;
    return providerOptions ? { providerOptions } : {};
  }

  #unfinished(part: ModelPart): void {
    const id = this.#thoughts.get(part);
    const why = 'Nothing follows it in its turn, and providers refuse a thought that leads nowhere.';
    this.#onLoss({ kind: 'repaired', what: 'reasoning', why, ...defined({ id }) });
  }

  #empty(part: MessagePart): void {
    this.#onLoss({
      kind: 'repaired',
      what: `empty ${part.type}`,
      why: 'It was left out.',
      ...defined({ id: part.id }),
    });
  }

  #reportUnsaid(parts: readonly MessagePart[]): void {
    for (const part of parts) this.#unsaid(part);
  }

  #unsaid(part: MessagePart): void {
    const why = 'A model is told text, files, reasoning and calls; the store keeps the rest.';
    this.#onLoss({ kind: 'unsupported', what: part.type, why, ...defined({ id: part.id }) });
  }

  #reportDirectories({ id, role, content, state, sourceState, runId, status }: CanonicalMessage): void {
    const { metadata, agents, steps, runs } = content;
    const providerMetadata = role === 'assistant' ? content.providerMetadata : undefined;
    const lost = Object.keys(
      defined({ metadata, agents, steps, runs, providerMetadata, state, sourceState, runId, status }),
    );
    if (lost.length === 0) return;
    const why = `A model message has no place for ${lost.join(', ')}; the store keeps them.`;
    this.#onLoss({ kind: 'unsupported', what: 'message', why, id });
  }
}

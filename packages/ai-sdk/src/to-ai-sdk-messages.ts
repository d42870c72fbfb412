import {
  repairHistory,
  type CanonicalMessage,
  type FilePart,
  type InterjectionPart,
  type JsonObject,
  type MessagePart,
  type Meta,
  type OnLoss,
  type ToolPart,
} from '@intertie/core';
import type { ModelMessage } from 'ai';
import { admitInternal, type IncludeInternal } from './include-internal.ts';
import { unknownMediaType } from './file-body.ts';
import { keptSlot, withSlot } from './intertie-slot.ts';
import { modelApproval } from './model-approval.ts';
import { modelFileData } from './model-file-data.ts';
import { inputOf, toolSlot } from './model-tool-call.ts';
import { encodeToolOutput, type ModelToolOutput } from './model-tool-output.ts';
import { Turns, type BuiltMessage, type ModelPart, type Turn } from './model-turns.ts';
import { toProviderCallIds, type ProviderCallIds } from './provider-call-ids.ts';
import { providerKindOf } from './provider-data.ts';
import { createProviderFilter, type ProviderFilter } from './provider-filter.ts';
import { defined } from './read-fields.ts';
import type { UIMessageVersion } from './ui-message-chunk.ts';
import { uniqueCallIds } from './unique-call-ids.ts';

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
 * Canonical messages as the model messages of `streamText` and `generateText`, such that every provider takes them: what a
 * crash left open is repaired, each turn of the model is an assistant message of its own with the results of its calls right
 * behind it, and another provider's signatures are left out. Synchronous.
 */
export function toAiSdkMessages(
  messages: readonly CanonicalMessage[],
  options: ToAiSdkMessagesOptions = {},
): ModelMessage[] {
  const { onLoss = () => undefined, continues } = options;
  const unique = uniqueCallIds(messages.map(withText), onLoss);
  const { messages: sound, repairs } = repairHistory(unique, { ...defined({ continues }) });
  for (const { kind, message: why, id, messageId } of repairs) {
    onLoss({ kind: 'repaired', what: kind, why, id: id ?? messageId });
  }
  const writer = new ModelMessageWriter(
    { ...options, onLoss },
    toProviderCallIds(unique),
    options.onLoss !== undefined,
  );
  return sound.flatMap((message) => writer.write(message)) as ModelMessage[];
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

  write(message: CanonicalMessage): BuiltMessage[] {
    // Most messages have something of the kind: of a long history that is a long report, if anybody reads it.
    if (this.#isHeard) this.#reportDirectories(message);
    const messages = this.#messagesOf(message);
    if (!this.#withSlot) return messages;
    const slot = { messageId: message.id, createdAt: message.createdAt.toISOString() };
    for (const made of messages) made.providerOptions = withSlot(made.providerOptions, slot)!;
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
        return this.#assistant(message.content.parts);
    }
  }

  /** Of what a person said: of an answer they are what the provider reported, and it wants none of it back. */
  #messageOptions({ content }: CanonicalMessage): { providerOptions?: Meta } {
    return defined({ providerOptions: this.#filter.admit(content.providerMetadata) });
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

  #assistant(parts: readonly MessagePart[]): BuiltMessage[] {
    const messages: BuiltMessage[] = [];
    let turns: Turns = new Turns();
    const flush = (): void => {
      messages.push(...turns.messages((part) => this.#unfinished(part)));
      turns = new Turns();
    };
    for (const part of parts) {
      const admitted = admitInternal(part, this.#includeInternal, this.#onLoss);
      if (admitted === undefined) continue;
      if (admitted.type === 'interjection') {
        flush();
        messages.push(...this.#interjection(admitted));
      } else this.#say(admitted, turns);
    }
    flush();
    return messages;
  }

  /** A system's words in the middle of a conversation are refused by most providers: the model reads them as the user's. */
  #interjection(part: InterjectionPart): BuiltMessage[] {
    const content = this.#userContent(part.parts);
    const { role, name } = part;
    const slot = { interjection: { role, ...defined({ name }), ...keptSlot(part) } };
    const providerOptions = this.#withSlot ? withSlot(part.providerMetadata, slot) : undefined;
    return content.length > 0 ? [{ role: 'user', content, ...(providerOptions && { providerOptions }) }] : [];
  }

  #say(part: Exclude<MessagePart, InterjectionPart>, turns: Turns): void {
    switch (part.type) {
      case 'text': {
        const { text, citations } = part;
        if (text.trim() === '' && !this.#filter.admit(part.providerMetadata)) return this.#empty(part);
        turns.of(part, 'words').said.push({ type: 'text', text, ...this.#options(part, defined({ citations })) });
        return;
      }
      case 'reasoning': {
        const { reasoning: text, details, providerMetadata } = part;
        if (this.#filter.isForeign(providerMetadata)) {
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
        return this.#tool(part, turns.of(part, 'call'));
      case 'file': {
        const file = this.#file(part);
        if (file) turns.of(part, 'words').said.push(...file);
        return;
      }
      case 'data': {
        const kind = this.#version === 7 ? providerKindOf(part.name) : undefined;
        if (kind === undefined) return this.#unsaid(part);
        turns.of(part, 'words').said.push({ type: 'custom', kind, ...this.#options(part) });
        return;
      }
      default:
        this.#unsaid(part);
    }
  }

  #tool(part: ToolPart, turn: Turn): void {
    const { toolCallId: id, toolName, executor, approval, args = {} } = part;
    const toolCallId = this.#callIds.get(id) ?? id;
    const providerExecuted = executor === 'provider';
    if (providerExecuted && part.error?.code === 'unsettled') {
      const why = 'The provider never said what came of its own tool, and refuses a result from anybody else.';
      return this.#onLoss({ kind: 'repaired', what: 'provider call', why, id });
    }
    const asked = approval?.kind === 'approval' ? modelApproval(approval, toolCallId, providerExecuted) : undefined;
    const isOpen = providerExecuted || asked?.response !== undefined;
    const output = encodeToolOutput(part, this.#onLoss) ?? (isOpen ? undefined : this.#interrupted(part));
    const input = inputOf(args, part.invalid === true);
    turn.said.push({
      type: 'tool-call',
      toolCallId,
      toolName,
      input,
      ...(providerExecuted && { providerExecuted }),
      ...this.#options(part, { ...toolSlot(part, input), ...(toolCallId !== id && { toolCallId: id }) }),
    });
    if (asked) turn.said.push(asked.request);
    if (asked?.response) turn.results.push(asked.response);
    if (output === undefined) return;
    const providerOptions = this.#filter.admit(part.resultMetadata);
    const result = { type: 'tool-result', toolCallId, toolName, output, ...defined({ providerOptions }) };
    (providerExecuted ? turn.said : turn.results).push(result);
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
    if (reference?.provider !== undefined && this.#filter.isForeign({ [reference.provider]: {} })) {
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
    const slot = { ...(mimeType === undefined && { untyped: true }), ...defined({ reference }) };
    return [
      {
        type: reasoning ? 'reasoning-file' : 'file',
        data,
        mediaType: mimeType ?? unknownMediaType,
        ...(!reasoning && defined({ filename })),
        ...this.#options(part, slot),
      },
    ];
  }

  #options(part: MessagePart, more: JsonObject = {}): { providerOptions?: Meta } {
    const meta = this.#filter.admit(part.providerMetadata);
    const providerOptions = this.#withSlot ? withSlot(meta, { ...keptSlot(part), ...more }) : meta;
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

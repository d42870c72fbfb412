import type { Checker, Report } from '@intertie/core';
import { refusePrototypes } from './parse-wire-json.ts';
import { fieldsOf, isFields, textOf } from './read-fields.ts';
import type {
  UIDataChunk,
  UIMessageChunk,
  UIMessageVersion,
  UIToolApprovalResponseChunk,
  UIToolInputAvailableChunk,
  UIToolInputErrorChunk,
  UIToolInputStartChunk,
} from './ui-message-chunk.ts';
import type { UIMessageRule } from './ui-message-rules.ts';
import { validateUIMessageChunk } from './validate-ui-message-chunk.ts';

export interface UIMessageCheckerOptions {
  /** The major of `ai` that reads the stream. Default: 6. */
  version?: UIMessageVersion;
  /** The message that the reader has, of a stream that continues it. */
  message?: { id: string; metadata?: unknown; parts: readonly unknown[] };
  /** What is wrong with the message's metadata, or with data of that name, if anything: the page's schemas. */
  metadataProblem?: (metadata: unknown) => string | undefined;
  dataProblem?: (name: string, data: unknown) => string | undefined;
}

type Kind = 'text' | 'reasoning';
/** A part that streams. `meta` is what the client has of its metadata. */
type Streaming = { meta: unknown };
type ToolPart = {
  toolCallId: string;
  isDynamic: boolean;
  /** The number of the step that it is in. */
  step: number;
  state: 'streaming' | 'complete' | 'preliminary' | 'settled';
  approvalId?: string;
  providerExecuted: boolean;
  callMeta: unknown;
  resultMeta: unknown;
};

/**
 * Says of every chunk what the reducer of `ai` makes of it: where it throws, and where it silently shows something wrong. Its
 * state is the reducer's (`readUIMessageStream`), as far as a verdict depends on it. Written from the reducer and on its own,
 * so that the encoder and this checker test each other.
 */
export class UIMessageChecker implements Checker {
  #options: UIMessageCheckerOptions;
  #version: UIMessageVersion;
  #report!: Report;
  #messageId: string;
  #metadata: unknown;
  #open: { [kind in Kind]: Map<string, Streaming> } = { text: new Map(), reasoning: new Map() };
  /** What `finish-step` has made ai 6 forget. */
  #forgotten: { [kind in Kind]: Set<string> } = { text: new Set(), reasoning: new Set() };
  /** Calls whose input the reducer would add to, and whether they are dynamic. It never lets go of one. */
  #inputs = new Map<string, boolean>();
  #tools: ToolPart[] = [];
  /** Data by name and id, and the name of each id. */
  #data = new Map<string, 'kept' | 'transient'>();
  #dataNames = new Map<string, string>();
  #step = 0;
  #isStepOpen = false;
  #isStepEmpty = true;
  #seen = 0;
  #last: 'finish' | 'abort' | 'error' | undefined;

  constructor(options: UIMessageCheckerOptions = {}) {
    this.#options = options;
    this.#version = options.version ?? 6;
    this.#messageId = options.message?.id ?? '';
    this.#metadata = options.message?.metadata;
    for (const part of options.message?.parts ?? []) this.#learn(fieldsOf(part));
    for (const { toolCallId, isDynamic, step, state } of this.#tools) {
      if (state === 'streaming' && step === this.#step) this.#inputs.set(toolCallId, isDynamic);
    }
  }

  feed(item: unknown, report: Report): void {
    this.#report = report;
    const problem = validateUIMessageChunk(item, this.#version);
    if (problem) {
      const type = textOf(fieldsOf(item).type);
      const place = problem.path === '' ? '' : `${problem.path}: `;
      this.#broken(
        'T0-shape',
        `ai ${this.#version} refuses ${type ?? 'the item'}: ${place}${problem.message}.`,
        problem.path,
      );
    } else {
      this.#frame(item);
      this.#chunk(item as UIMessageChunk);
    }
    this.#seen += 1;
  }

  end(report: Report): void {
    this.#report = report;
    this.#unended();
    for (const { toolCallId, state } of this.#tools) {
      if (state !== 'preliminary') continue;
      const why = 'Its last output is preliminary; a model is not told of it.';
      report.loss({ kind: 'unsupported', what: 'tool output', why, id: toolCallId });
    }
    if (this.#last === undefined) {
      this.#broken('S3-finish', 'The stream ends without finish, abort or error; the client takes it for complete.');
    }
    if (this.#isStepOpen && this.#last === 'finish') this.#broken('S4-order', 'The last step is not finished.');
  }

  #chunk(chunk: UIMessageChunk): void {
    this.#afterTheEnd(chunk);
    switch (chunk.type) {
      case 'text-start':
        return this.#partStart('text', chunk.id, chunk.providerMetadata);
      case 'reasoning-start':
        return this.#partStart('reasoning', chunk.id, chunk.providerMetadata);
      case 'text-delta':
        return this.#partGoesOn('text', chunk, false);
      case 'reasoning-delta':
        return this.#partGoesOn('reasoning', chunk, false);
      case 'text-end':
        return this.#partGoesOn('text', chunk, true);
      case 'reasoning-end':
        return this.#partGoesOn('reasoning', chunk, true);
      case 'tool-input-start':
      case 'tool-input-available':
      case 'tool-input-error':
        return this.#input(chunk);
      case 'tool-input-delta':
        return this.#inputDelta(chunk.toolCallId);
      case 'tool-approval-request': {
        const part = this.#tool(chunk.type, chunk.toolCallId);
        if (part) part.approvalId = chunk.approvalId;
        return;
      }
      case 'tool-approval-response':
        return this.#approvalResponse(chunk);
      case 'tool-output-available':
        return this.#output(chunk, chunk.preliminary ? 'preliminary' : 'settled');
      case 'tool-output-error':
      case 'tool-output-denied':
        return this.#output(chunk, 'settled');
      case 'start':
        return this.#start(chunk.messageId, chunk.messageMetadata);
      case 'finish':
        this.#last ??= 'finish';
        return this.#messageMetadata(chunk.messageMetadata);
      case 'abort':
      case 'error':
        this.#last ??= chunk.type;
        return;
      case 'message-metadata':
        return this.#messageMetadata(chunk.messageMetadata);
      case 'start-step':
        return this.#startStep();
      case 'finish-step':
        return this.#finishStep();
      case 'reset-step':
        return this.#resetStep();
      case 'source-url':
      case 'source-document':
      case 'file':
      case 'reasoning-file':
      case 'custom':
      case 'steering-message':
        this.#isStepEmpty = false;
        return;
      default:
        return this.#dataChunk(chunk);
    }
  }

  #afterTheEnd({ type }: UIMessageChunk): void {
    if (this.#last === 'finish') this.#broken('S4-order', `${type} comes after finish.`);
    if (this.#last === 'abort') this.#broken('S11-abort', `${type} comes after abort.`);
    const saysNothing = type === 'finish-step' || type === 'finish' || type === 'abort';
    if (this.#last === 'error' && !saysNothing) this.#broken('T8-error', `A chat has stopped before this ${type}.`);
  }

  #partStart(kind: Kind, id: string, meta: unknown): void {
    this.#isStepEmpty = false;
    if (this.#open[kind].has(id)) {
      this.#broken('S2-open', `The ${kind} "${id}" is open; its part stays unfinished, and a new one begins.`);
    }
    const isIdle = this.#open.text.size + this.#open.reasoning.size === 0;
    const inStep = this.#tools.filter(({ step }) => step === this.#step);
    const result = inStep.find(({ state, providerExecuted }) => state === 'settled' && !providerExecuted);
    // While something is open, ai 6 could not bear a boundary here.
    if (result && isIdle && inStep.every(({ state }) => state !== 'streaming')) {
      this.#broken('S13-result', `The ${kind} "${id}" follows the result of ${result.toolCallId} in the same step.`);
    }
    this.#forgotten[kind].delete(id);
    this.#open[kind].set(id, { meta });
  }

  #partGoesOn(kind: Kind, chunk: { type: string; id: string; providerMetadata?: unknown }, isEnd: boolean): void {
    const part = this.#open[kind].get(chunk.id);
    if (part === undefined) {
      const isForgotten = this.#forgotten[kind].has(chunk.id);
      const rule = isForgotten ? 'T6-step' : kind === 'text' ? 'T1-text' : 'T2-reasoning';
      const why = isForgotten ? 'finish-step has made ai 6 forget it' : 'none is open';
      return this.#broken(rule, `The client throws at this ${chunk.type}: of the ${kind} "${chunk.id}", ${why}.`);
    }
    part.meta = this.#replaced(part.meta, chunk.providerMetadata, chunk.type, chunk.id);
    if (isEnd) this.#open[kind].delete(chunk.id);
  }

  #input(chunk: UIToolInputStartChunk | UIToolInputAvailableChunk | UIToolInputErrorChunk): void {
    this.#isStepEmpty = false;
    const { toolCallId } = chunk;
    const current = this.#tools.find((part) => part.toolCallId === toolCallId && part.step === this.#step);
    // An input error is taken by whatever part there is.
    const isDynamic = chunk.type === 'tool-input-error' && current ? current.isDynamic : chunk.dynamic === true;
    if (chunk.type === 'tool-input-start') this.#inputs.set(toolCallId, isDynamic);
    const part = this.#inputPart(toolCallId, isDynamic, chunk.type);
    if (chunk.providerExecuted !== undefined) part.providerExecuted = chunk.providerExecuted;
    if (chunk.type === 'tool-input-error') {
      part.resultMeta = this.#replaced(part.resultMeta, chunk.providerMetadata, chunk.type, toolCallId);
      part.state = 'settled';
    } else {
      part.callMeta = this.#replaced(part.callMeta, chunk.providerMetadata, chunk.type, toolCallId);
      part.state = chunk.type === 'tool-input-start' ? 'streaming' : 'complete';
    }
  }

  #inputDelta(toolCallId: string): void {
    const isDynamic = this.#inputs.get(toolCallId);
    if (isDynamic === undefined) {
      const message = `The client throws at this tool-input-delta: no input of ${toolCallId} has been started.`;
      return this.#broken('T3-input', message);
    }
    this.#inputPart(toolCallId, isDynamic, 'tool-input-delta').state = 'streaming';
  }

  /** The part that takes an input: one of the same kind in this step, or a new one. */
  #inputPart(toolCallId: string, isDynamic: boolean, type: string): ToolPart {
    const same = this.#tools.filter((part) => part.toolCallId === toolCallId);
    const current = same.filter(({ step }) => step === this.#step);
    const part = current.find((candidate) => candidate.isDynamic === isDynamic);
    if (part) {
      if (part.state !== 'streaming') this.#broken('S6-once', `${type} takes the call ${toolCallId} back.`);
      return part;
    }
    if (current.length > 0) {
      this.#broken('S5-dynamic', `${type} says another "dynamic" than before: ${toolCallId} now has two parts.`);
    } else if (same.length > 0) {
      this.#broken('S6-once', `${type} comes in a later step than its call: ${toolCallId} now has two parts.`);
    }
    const added: ToolPart = {
      toolCallId,
      isDynamic,
      step: this.#step,
      state: 'streaming',
      providerExecuted: false,
      callMeta: undefined,
      resultMeta: undefined,
    };
    this.#tools.push(added);
    return added;
  }

  #output(
    chunk: { type: string; toolCallId: string; providerMetadata?: unknown; providerExecuted?: boolean },
    state: 'preliminary' | 'settled',
  ): void {
    const part = this.#tool(chunk.type, chunk.toolCallId);
    if (part === undefined) return;
    // What `tool-input-error` has said is said again by `ai` itself.
    if (part.state === 'settled' && chunk.type !== 'tool-output-error') {
      this.#broken('S7-output', `${chunk.type} comes after the final output of ${chunk.toolCallId}.`);
    }
    if (chunk.providerExecuted !== undefined) part.providerExecuted = chunk.providerExecuted;
    part.resultMeta = this.#replaced(part.resultMeta, chunk.providerMetadata, chunk.type, chunk.toolCallId);
    part.state = state;
  }

  #approvalResponse(chunk: UIToolApprovalResponseChunk): void {
    const part = this.#tools.find(({ approvalId }) => approvalId === chunk.approvalId);
    if (part === undefined) {
      const message = `The client throws at this tool-approval-response: nothing asks for ${chunk.approvalId}.`;
      return this.#broken('T5-approval', message);
    }
    if (part.state === 'settled') this.#broken('S7-output', `The answer takes the call ${part.toolCallId} back.`);
    part.callMeta = this.#replaced(part.callMeta, chunk.providerMetadata, chunk.type, part.toolCallId);
  }

  /** The part that an output or an approval is for: in this step, else the last one of the message. */
  #tool(type: string, toolCallId: string): ToolPart | undefined {
    const same = this.#tools.filter((part) => part.toolCallId === toolCallId);
    const part = same.find(({ step }) => step === this.#step) ?? same.at(-1);
    if (part === undefined) {
      this.#broken('T4-call', `The client throws at this ${type}: the message has no call ${toolCallId}.`);
    }
    return part;
  }

  #start(messageId: string | undefined, metadata: unknown): void {
    if (this.#seen > 0) this.#broken('S9-start', 'start comes after other chunks.');
    if (messageId !== undefined && messageId !== this.#messageId) {
      // Another message, as far as a reader knows: it begins from nothing.
      this.#messageId = messageId;
      this.#metadata = undefined;
      this.#open = { text: new Map(), reasoning: new Map() };
      this.#inputs.clear();
      this.#tools = [];
      this.#data.clear();
      this.#dataNames.clear();
    }
    this.#messageMetadata(metadata);
  }

  #messageMetadata(metadata: unknown): void {
    if (metadata === undefined || metadata === null) return;
    if (hasValue(this.#metadata) && typeof this.#metadata !== 'object' && hasKeys(metadata)) {
      return this.#broken(
        'T7-metadata',
        'The client throws: it cannot merge this into what it has.',
        'messageMetadata',
      );
    }
    if (!isFields(metadata)) this.#broken('T7-metadata', 'Metadata is an object.', 'messageMetadata');
    this.#metadata = hasValue(this.#metadata) ? { ...(this.#metadata as object), ...metadata } : metadata;
    const problem = this.#options.metadataProblem?.(this.#metadata);
    if (problem !== undefined) this.#broken('T7-metadata', `The page refuses it: ${problem}.`, 'messageMetadata');
  }

  #startStep(): void {
    if (this.#isStepOpen) this.#broken('S4-order', 'start-step comes while a step is open.');
    if (this.#isStepOpen && this.#isStepEmpty) this.#broken('S12-empty', 'The step before has no content.');
    this.#isStepOpen = true;
    this.#isStepEmpty = true;
    this.#step += 1;
  }

  #finishStep(): void {
    if (!this.#isStepOpen) this.#broken('S4-order', 'finish-step comes while no step is open.');
    else if (this.#isStepEmpty) this.#broken('S12-empty', 'The step has no content.');
    this.#isStepOpen = false;
    if (this.#version === 7) return;
    this.#unended();
    for (const kind of ['text', 'reasoning'] as const) {
      for (const id of this.#open[kind].keys()) this.#forgotten[kind].add(id);
      this.#open[kind].clear();
    }
  }

  #resetStep(): void {
    if (!this.#isStepOpen) this.#broken('S4-order', 'reset-step comes while no step is open.');
    this.#isStepEmpty = false;
    this.#open = { text: new Map(), reasoning: new Map() };
    this.#inputs.clear();
    this.#tools = this.#tools.filter(({ step }) => step !== this.#step);
  }

  #dataChunk(chunk: UIDataChunk): void {
    const name = chunk.type.slice('data-'.length);
    const problem = this.#options.dataProblem?.(name, chunk.data);
    if (problem !== undefined) this.#broken('T7-metadata', `The page refuses the data "${name}": ${problem}.`, 'data');
    if (!chunk.transient) this.#isStepEmpty = false;
    if (chunk.id === undefined) return;
    const key = `${chunk.type} ${chunk.id}`;
    const before = this.#data.get(key);
    const named = this.#dataNames.get(chunk.id);
    if (before === 'kept' && chunk.transient) {
      this.#broken(
        'S8-data',
        `The data "${chunk.id}" is kept, and this transient chunk does not change it.`,
        'transient',
      );
    }
    if (named !== undefined && named !== name) {
      this.#broken('S8-data', `The data "${chunk.id}" was "${named}" before; the client now has two parts.`, 'type');
    }
    this.#dataNames.set(chunk.id, name);
    if (before !== 'kept') this.#data.set(key, chunk.transient ? 'transient' : 'kept');
  }

  /** What the client has after a chunk with this metadata: the new one, whole. */
  #replaced(before: unknown, meta: unknown, type: string, id: string): unknown {
    if (meta === undefined) return before;
    for (const [provider, said] of Object.entries(fieldsOf(before))) {
      const now = fieldsOf(fieldsOf(meta)[provider]);
      const lost = Object.keys(fieldsOf(said)).find((key) => !Object.hasOwn(now, key));
      if (lost === undefined) continue;
      const message = `${type} drops ${provider}.${lost}, which "${id}" had.`;
      this.#broken('S10-replace', message, `providerMetadata.${provider}`);
      break;
    }
    return meta;
  }

  #unended(): void {
    for (const kind of ['text', 'reasoning'] as const) {
      for (const id of this.#open[kind].keys()) {
        this.#broken('S1-end', `The ${kind} "${id}" is not ended, and stays as it is.`);
      }
    }
  }

  #frame(chunk: unknown): void {
    try {
      refusePrototypes(chunk);
    } catch {
      this.#broken('S14-frame', 'The client refuses the event: a key of it would change a prototype.');
    }
  }

  #learn(part: { readonly [key: string]: unknown }): void {
    const type = textOf(part.type) ?? '';
    if (type === 'step-start') this.#step += 1;
    if (type.startsWith('data-') && typeof part.id === 'string') {
      this.#data.set(`${type} ${part.id}`, 'kept');
      this.#dataNames.set(part.id, type.slice('data-'.length));
    }
    const isDynamic = type === 'dynamic-tool';
    if ((!isDynamic && !type.startsWith('tool-')) || typeof part.toolCallId !== 'string') return;
    const { toolCallId, state } = part;
    const approvalId = textOf(fieldsOf(part.approval).id);
    this.#tools.push({
      toolCallId,
      isDynamic,
      step: this.#step,
      state: stateOf(state, part.preliminary === true),
      ...(approvalId !== undefined && { approvalId }),
      providerExecuted: part.providerExecuted === true,
      callMeta: part.callProviderMetadata,
      resultMeta: part.resultProviderMetadata,
    });
  }

  #broken(rule: UIMessageRule, message: string, path?: string): void {
    this.#report.violation(rule, message, path);
  }
}

function stateOf(state: unknown, isPreliminary: boolean): ToolPart['state'] {
  if (state === 'input-streaming') return 'streaming';
  if (state === 'output-available') return isPreliminary ? 'preliminary' : 'settled';
  return state === 'output-error' || state === 'output-denied' ? 'settled' : 'complete';
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether the client would look for a key of it in what it has. */
function hasKeys(metadata: unknown): boolean {
  const fields = Object.entries(Object(metadata) as object) as Array<[string, unknown]>;
  return fields.some(([key, value]) => !['constructor', 'prototype', '__proto__'].includes(key) && value !== undefined);
}

import type { Checker, Report } from '@intertie/core/internal';
import { CheckedData } from './check-ui-data.ts';
import type { Broken } from './check-ui-metadata.ts';
import { CheckedTools } from './check-ui-tools.ts';
import { CheckedWords, type WordsKind } from './check-ui-text-parts.ts';
import { refusePrototypes } from '../../shared/parse-wire-json.ts';
import { asFields, isFields, asText } from '../../shared/read-fields.ts';
import type { UIDataChunk, UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

export interface UIMessageCheckerOptions {
  /** The major of `ai` that reads the stream. Default: 6. */
  version?: UIMessageVersion;
  /** The message that the reader has, of a stream that continues it. */
  message?: { id: string; metadata?: unknown; parts: readonly unknown[] };
  /** What is wrong with the message's metadata, or with data of that name, if anything: the page's schemas. */
  metadataProblem?: (metadata: unknown) => string | undefined;
  dataProblem?: (name: string, data: unknown) => string | undefined;
}

/**
 * Says of every chunk what the reducer of `ai` makes of it: where it throws, and where it silently shows something wrong. Its
 * state is the reducer's (`readUIMessageStream`), as far as a verdict depends on it. Written from the reducer and on its own,
 * so that the encoder and this checker test each other.
 */
export class UIMessageChecker implements Checker {
  #options: UIMessageCheckerOptions;
  #version: UIMessageVersion;
  #report!: Report;
  #broken: Broken = (rule, message, path) => this.#report.violation(rule, message, path);
  #messageId: string;
  #metadata: unknown;
  #words = new CheckedWords(this.#broken);
  #tools = new CheckedTools(this.#broken);
  #data = new CheckedData(this.#broken);
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
    for (const part of options.message?.parts ?? []) {
      const fields = asFields(part);
      if (fields.type === 'step-start') this.#step += 1;
      this.#data.learn(fields);
      this.#tools.learn(fields, this.#step);
    }
    this.#tools.resume(this.#step);
  }

  feed(item: unknown, report: Report): void {
    this.#report = report;
    const problem = validateUIMessageChunk(item, this.#version);
    if (problem) {
      const type = asText(asFields(item).type);
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
    this.#words.reportUnended();
    for (const id of this.#tools.preliminary) {
      const why = 'Its last output is preliminary; a model is not told of it.';
      report.loss({ kind: 'unsupported', what: 'tool output', why, id });
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
        return this.#wordsStart('text', chunk);
      case 'reasoning-start':
        return this.#wordsStart('reasoning', chunk);
      case 'text-delta':
        return this.#words.goOn('text', chunk, false);
      case 'reasoning-delta':
        return this.#words.goOn('reasoning', chunk, false);
      case 'text-end':
        return this.#words.goOn('text', chunk, true);
      case 'reasoning-end':
        return this.#words.goOn('reasoning', chunk, true);
      case 'tool-input-start':
      case 'tool-input-available':
      case 'tool-input-error':
        this.#isStepEmpty = false;
        return this.#tools.input(chunk, this.#step);
      case 'tool-input-delta':
        return this.#tools.inputDelta(chunk.toolCallId, this.#step);
      case 'tool-approval-request':
        return this.#tools.request(chunk, this.#step);
      case 'tool-approval-response':
        return this.#tools.respond(chunk);
      case 'tool-output-available':
        return this.#tools.output(chunk, chunk.preliminary ? 'preliminary' : 'settled', this.#step);
      case 'tool-output-error':
      case 'tool-output-denied':
        return this.#tools.output(chunk, 'settled', this.#step);
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

  #wordsStart(kind: WordsKind, chunk: { id: string; providerMetadata?: unknown }): void {
    this.#isStepEmpty = false;
    // While something is open, ai 6 could not bear a boundary here.
    const result = this.#words.isIdle ? this.#tools.resultBefore(chunk, this.#step) : undefined;
    this.#words.start(kind, chunk);
    if (result !== undefined) {
      this.#broken('S13-result', `The ${kind} "${chunk.id}" follows the result of ${result} in the same step.`);
    }
  }

  #start(messageId: string | undefined, metadata: unknown): void {
    if (this.#seen > 0) this.#broken('S9-start', 'start comes after other chunks.');
    if (messageId !== undefined && messageId !== this.#messageId) {
      // Another message, as far as a reader knows: it begins from nothing.
      this.#messageId = messageId;
      this.#metadata = undefined;
      this.#words.clear();
      this.#tools.clear();
      this.#data.clear();
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
    this.#words.reportUnended();
    this.#words.forget();
  }

  #resetStep(): void {
    if (!this.#isStepOpen) this.#broken('S4-order', 'reset-step comes while no step is open.');
    this.#isStepEmpty = false;
    this.#words.clear();
    this.#tools.reset(this.#step);
  }

  #dataChunk(chunk: UIDataChunk): void {
    const name = chunk.type.slice('data-'.length);
    const problem = this.#options.dataProblem?.(name, chunk.data);
    if (problem !== undefined) this.#broken('T7-metadata', `The page refuses the data "${name}": ${problem}.`, 'data');
    if (!chunk.transient) this.#isStepEmpty = false;
    this.#data.part(chunk);
  }

  #frame(chunk: unknown): void {
    try {
      refusePrototypes(chunk);
    } catch {
      this.#broken('S14-frame', 'The client refuses the event: a key of it would change a prototype.');
    }
  }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether the client would look for a key of it in what it has. */
function hasKeys(metadata: unknown): boolean {
  const fields = Object.entries(Object(metadata) as object) as Array<[string, unknown]>;
  return fields.some(([key, value]) => !['constructor', 'prototype', '__proto__'].includes(key) && value !== undefined);
}

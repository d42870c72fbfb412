import type { Checker, Report } from '@intertie/core/internal';
import { UIDataChecker } from './check-ui-data.ts';
import type { ReportViolation } from './check-ui-metadata.ts';
import { UIToolChecker } from './check-ui-tools.ts';
import { UITextPartChecker, type TextPartKind } from './check-ui-text-parts.ts';
import { assertNoPrototypeKeys } from '../../shared/parse-wire-json.ts';
import { asFields, isFields, asText } from '../../shared/read-fields.ts';
import type { UIDataChunk, UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import { validateUIMessageChunk } from '../chunk/validate-ui-message-chunk.ts';

export interface UIMessageCheckerOptions {
  /** Major version of `ai` that reads the stream. Default: 6. */
  version?: UIMessageVersion;
  /** Message that the reader already has, if the stream continues it. */
  message?: { id: string; metadata?: unknown; parts: readonly unknown[] };
  /** Validate message metadata and data with the page's schemas. Return a problem, or undefined if valid. */
  metadataProblem?: (metadata: unknown) => string | undefined;
  dataProblem?: (name: string, data: unknown) => string | undefined;
}

/**
 * Checks each chunk against the reducer of `ai` (`readUIMessageStream`): where it throws, and where it silently shows something
 * wrong. Mirrors the reducer's state as far as the rules need it. Written from the reducer, independently of the encoder, so
 * that both test each other.
 */
export class UIMessageChecker implements Checker {
  #options: UIMessageCheckerOptions;
  #version: UIMessageVersion;
  #report!: Report;
  #violation: ReportViolation = (rule, message, path) => this.#report.violation(rule, message, path);
  #messageId: string;
  #metadata: unknown;
  #textParts = new UITextPartChecker(this.#violation);
  #tools = new UIToolChecker(this.#violation);
  #data = new UIDataChecker(this.#violation);
  #step = 0;
  #isStepOpen = false;
  #isStepEmpty = true;
  #chunkCount = 0;
  #ending: 'finish' | 'abort' | 'error' | undefined;

  constructor(options: UIMessageCheckerOptions = {}) {
    this.#options = options;
    this.#version = options.version ?? 6;
    this.#messageId = options.message?.id ?? '';
    this.#metadata = options.message?.metadata;
    for (const part of options.message?.parts ?? []) {
      const fields = asFields(part);
      if (fields.type === 'step-start') this.#step += 1;
      this.#data.addBaseline(fields);
      this.#tools.addBaseline(fields, this.#step);
    }
    this.#tools.resumeInputs(this.#step);
  }

  feed(item: unknown, report: Report): void {
    this.#report = report;
    const problem = validateUIMessageChunk(item, this.#version);
    if (problem) {
      const type = asText(asFields(item).type);
      const place = problem.path === '' ? '' : `${problem.path}: `;
      this.#violation(
        'T0-shape',
        `ai ${this.#version} refuses ${type ?? 'the item'}: ${place}${problem.message}.`,
        problem.path,
      );
    } else {
      this.#checkFrame(item);
      this.#checkChunk(item as UIMessageChunk);
    }
    this.#chunkCount += 1;
  }

  end(report: Report): void {
    this.#report = report;
    this.#textParts.reportOpen();
    for (const id of this.#tools.preliminary) {
      const why = 'Its last output is preliminary, and is not sent to a model.';
      report.loss({ kind: 'unsupported', what: 'tool output', why, id });
    }
    if (this.#ending === undefined) {
      this.#violation('S3-finish', 'The stream ends without finish, abort or error; the client treats it as complete.');
    }
    if (this.#isStepOpen && this.#ending === 'finish') this.#violation('S4-order', 'The last step is not finished.');
  }

  #checkChunk(chunk: UIMessageChunk): void {
    this.#checkAfterEnd(chunk);
    switch (chunk.type) {
      case 'text-start':
        return this.#startTextPart('text', chunk);
      case 'reasoning-start':
        return this.#startTextPart('reasoning', chunk);
      case 'text-delta':
        return this.#textParts.checkUpdate('text', chunk, false);
      case 'reasoning-delta':
        return this.#textParts.checkUpdate('reasoning', chunk, false);
      case 'text-end':
        return this.#textParts.checkUpdate('text', chunk, true);
      case 'reasoning-end':
        return this.#textParts.checkUpdate('reasoning', chunk, true);
      case 'tool-input-start':
      case 'tool-input-available':
      case 'tool-input-error':
        this.#isStepEmpty = false;
        return this.#tools.checkInput(chunk, this.#step);
      case 'tool-input-delta':
        return this.#tools.checkInputDelta(chunk.toolCallId, this.#step);
      case 'tool-approval-request':
        return this.#tools.checkRequest(chunk, this.#step);
      case 'tool-approval-response':
        return this.#tools.checkResponse(chunk);
      case 'tool-output-available':
        return this.#tools.checkOutput(chunk, chunk.preliminary ? 'preliminary' : 'settled', this.#step);
      case 'tool-output-error':
      case 'tool-output-denied':
        return this.#tools.checkOutput(chunk, 'settled', this.#step);
      case 'start':
        return this.#start(chunk.messageId, chunk.messageMetadata);
      case 'finish':
        this.#ending ??= 'finish';
        return this.#mergeMetadata(chunk.messageMetadata);
      case 'abort':
      case 'error':
        this.#ending ??= chunk.type;
        return;
      case 'message-metadata':
        return this.#mergeMetadata(chunk.messageMetadata);
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
        return this.#checkData(chunk);
    }
  }

  #checkAfterEnd({ type }: UIMessageChunk): void {
    if (this.#ending === 'finish') this.#violation('S4-order', `${type} comes after finish.`);
    if (this.#ending === 'abort') this.#violation('S11-abort', `${type} comes after abort.`);
    const isIgnored = type === 'finish-step' || type === 'finish' || type === 'abort';
    if (this.#ending === 'error' && !isIgnored) this.#violation('T8-error', `A chat stops before this ${type}.`);
  }

  #startTextPart(kind: TextPartKind, chunk: { id: string; providerMetadata?: unknown }): void {
    this.#isStepEmpty = false;
    // While a part is open, a step boundary here would break ai 6.
    const result = this.#textParts.isIdle ? this.#tools.findMisplacedResult(chunk, this.#step) : undefined;
    this.#textParts.checkStart(kind, chunk);
    if (result !== undefined) {
      this.#violation('S13-result', `The ${kind} "${chunk.id}" follows the result of ${result} in the same step.`);
    }
  }

  #start(messageId: string | undefined, metadata: unknown): void {
    if (this.#chunkCount > 0) this.#violation('S9-start', 'start comes after other chunks.');
    if (messageId !== undefined && messageId !== this.#messageId) {
      // The reader treats it as another message and starts from an empty one.
      this.#messageId = messageId;
      this.#metadata = undefined;
      this.#textParts.clear();
      this.#tools.clear();
      this.#data.clear();
    }
    this.#mergeMetadata(metadata);
  }

  #mergeMetadata(metadata: unknown): void {
    if (metadata === undefined || metadata === null) return;
    if (hasValue(this.#metadata) && typeof this.#metadata !== 'object' && hasKeys(metadata)) {
      return this.#violation(
        'T7-metadata',
        'The client throws: it cannot merge an object into metadata that is not one.',
        'messageMetadata',
      );
    }
    if (!isFields(metadata)) this.#violation('T7-metadata', 'Metadata must be an object.', 'messageMetadata');
    this.#metadata = hasValue(this.#metadata) ? { ...(this.#metadata as object), ...metadata } : metadata;
    const problem = this.#options.metadataProblem?.(this.#metadata);
    if (problem !== undefined) this.#violation('T7-metadata', `The page rejects it: ${problem}.`, 'messageMetadata');
  }

  #startStep(): void {
    if (this.#isStepOpen) this.#violation('S4-order', 'start-step comes while a step is open.');
    if (this.#isStepOpen && this.#isStepEmpty) this.#violation('S12-empty', 'The previous step has no content.');
    this.#isStepOpen = true;
    this.#isStepEmpty = true;
    this.#step += 1;
  }

  #finishStep(): void {
    if (!this.#isStepOpen) this.#violation('S4-order', 'finish-step comes while no step is open.');
    else if (this.#isStepEmpty) this.#violation('S12-empty', 'The step has no content.');
    this.#isStepOpen = false;
    if (this.#version === 7) return;
    this.#textParts.reportOpen();
    this.#textParts.forgetOpen();
  }

  #resetStep(): void {
    if (!this.#isStepOpen) this.#violation('S4-order', 'reset-step comes while no step is open.');
    this.#isStepEmpty = false;
    this.#textParts.clear();
    this.#tools.resetStep(this.#step);
  }

  #checkData(chunk: UIDataChunk): void {
    const name = chunk.type.slice('data-'.length);
    const problem = this.#options.dataProblem?.(name, chunk.data);
    if (problem !== undefined)
      this.#violation('T7-metadata', `The page rejects the data "${name}": ${problem}.`, 'data');
    if (!chunk.transient) this.#isStepEmpty = false;
    this.#data.checkData(chunk);
  }

  #checkFrame(chunk: unknown): void {
    try {
      assertNoPrototypeKeys(chunk);
    } catch {
      this.#violation('S14-frame', 'The client rejects the event: it has a key that would change a prototype.');
    }
  }
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether merging the metadata makes the client access a key of its current metadata. */
function hasKeys(metadata: unknown): boolean {
  const fields = Object.entries(Object(metadata) as object) as Array<[string, unknown]>;
  return fields.some(([key, value]) => !['constructor', 'prototype', '__proto__'].includes(key) && value !== undefined);
}

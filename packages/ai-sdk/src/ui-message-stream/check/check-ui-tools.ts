import { replaceMetadata, type ReportViolation } from './check-ui-metadata.ts';
import { metadataKey } from '../../shared/intertie-metadata.ts';
import { asFields, asText, type Fields } from '../../shared/read-fields.ts';
import type {
  UIToolApprovalResponseChunk,
  UIToolInputAvailableChunk,
  UIToolInputErrorChunk,
  UIToolInputStartChunk,
} from '../chunk/ui-message-chunk.ts';

type InputChunk = UIToolInputStartChunk | UIToolInputAvailableChunk | UIToolInputErrorChunk;
type OutputChunk = { type: string; toolCallId: string; providerMetadata?: unknown; providerExecuted?: boolean };
type ToolPart = {
  toolCallId: string;
  isDynamic: boolean;
  /** Number of its step. */
  step: number;
  state: 'streaming' | 'complete' | 'preliminary' | 'settled';
  approvalId?: string;
  providerExecuted: boolean;
  callMeta: unknown;
  resultMeta: unknown;
};

/** Checks tool chunks against the tool parts of the reducer's message. */
export class UIToolChecker {
  readonly #violation: ReportViolation;
  /** Calls whose input the reducer extends on a delta, and whether they are dynamic. The reducer never removes one. */
  readonly #inputs = new Map<string, boolean>();
  #parts: ToolPart[] = [];

  constructor(violation: ReportViolation) {
    this.#violation = violation;
  }

  /** Adds a part of the message that the reader has. */
  addBaseline(part: Fields, step: number): void {
    const type = asText(part.type) ?? '';
    const isDynamic = type === 'dynamic-tool';
    if ((!isDynamic && !type.startsWith('tool-')) || typeof part.toolCallId !== 'string') return;
    const { toolCallId, state } = part;
    const approvalId = asText(asFields(part.approval).id);
    this.#parts.push({
      toolCallId,
      isDynamic,
      step,
      state: toState(state, part.preliminary === true),
      ...(approvalId !== undefined && { approvalId }),
      providerExecuted: part.providerExecuted === true,
      callMeta: part.callProviderMetadata,
      resultMeta: part.resultProviderMetadata,
    });
  }

  /** Restores the open inputs of a continued message, which are those of its last step. */
  resumeInputs(step: number): void {
    for (const part of this.#parts) {
      if (part.state === 'streaming' && part.step === step) this.#inputs.set(part.toolCallId, part.isDynamic);
    }
  }

  checkInput(chunk: InputChunk, step: number): void {
    const { toolCallId } = chunk;
    const current = this.#parts.find((part) => part.toolCallId === toolCallId && part.step === step);
    // An input error applies to any part of the call.
    const isDynamic = chunk.type === 'tool-input-error' && current ? current.isDynamic : chunk.dynamic === true;
    if (chunk.type === 'tool-input-start') this.#inputs.set(toolCallId, isDynamic);
    const part = this.#inputPart(toolCallId, isDynamic, chunk.type, step);
    if (chunk.providerExecuted !== undefined) part.providerExecuted = chunk.providerExecuted;
    if (chunk.type === 'tool-input-error') {
      part.resultMeta = replaceMetadata(part.resultMeta, chunk, toolCallId, this.#violation);
      part.state = 'settled';
    } else {
      part.callMeta = replaceMetadata(part.callMeta, chunk, toolCallId, this.#violation);
      part.state = chunk.type === 'tool-input-start' ? 'streaming' : 'complete';
    }
  }

  checkInputDelta(toolCallId: string, step: number): void {
    const isDynamic = this.#inputs.get(toolCallId);
    if (isDynamic === undefined) {
      const message = `The client throws on this tool-input-delta: the input of ${toolCallId} was not started.`;
      return this.#violation('T3-input', message);
    }
    this.#inputPart(toolCallId, isDynamic, 'tool-input-delta', step).state = 'streaming';
  }

  checkOutput(chunk: OutputChunk, state: 'preliminary' | 'settled', step: number): void {
    const part = this.#find(chunk.type, chunk.toolCallId, step);
    if (part === undefined) return;
    // `ai` itself repeats the error of `tool-input-error`.
    if (part.state === 'settled' && chunk.type !== 'tool-output-error') {
      this.#violation('S7-output', `${chunk.type} comes after the final output of ${chunk.toolCallId}.`);
    }
    if (chunk.providerExecuted !== undefined) part.providerExecuted = chunk.providerExecuted;
    part.resultMeta = replaceMetadata(part.resultMeta, chunk, chunk.toolCallId, this.#violation);
    part.state = state;
  }

  checkRequest(chunk: { type: string; toolCallId: string; approvalId: string }, step: number): void {
    const part = this.#find(chunk.type, chunk.toolCallId, step);
    if (part) part.approvalId = chunk.approvalId;
  }

  checkResponse(chunk: UIToolApprovalResponseChunk): void {
    const part = this.#parts.find(({ approvalId }) => approvalId === chunk.approvalId);
    if (part === undefined) {
      const message = `The client throws on this tool-approval-response: there is no request ${chunk.approvalId}.`;
      return this.#violation('T5-approval', message);
    }
    if (part.state === 'settled')
      this.#violation('S7-output', `The answer reopens the settled call ${part.toolCallId}.`);
    part.callMeta = replaceMetadata(part.callMeta, chunk, part.toolCallId, this.#violation);
  }

  /**
   * Returns a call whose result the model would get after a text that follows it in the same step, unless a call of the step is
   * still streaming. Text and a call with the same step id in their metadata both precede the result, so they are in order.
   */
  findMisplacedResult(text: { providerMetadata?: unknown }, step: number): string | undefined {
    const parts = this.#parts.filter((part) => part.step === step);
    if (parts.some(({ state }) => state === 'streaming')) return undefined;
    const stepId = getStepId(text.providerMetadata);
    return parts.find(
      ({ state, providerExecuted, callMeta }) =>
        state === 'settled' && !providerExecuted && (stepId === undefined || getStepId(callMeta) !== stepId),
    )?.toolCallId;
  }

  /** Calls whose last output is preliminary. */
  get preliminary(): string[] {
    return this.#parts.flatMap(({ toolCallId, state }) => (state === 'preliminary' ? [toolCallId] : []));
  }

  resetStep(step: number): void {
    this.#inputs.clear();
    this.#parts = this.#parts.filter((part) => part.step !== step);
  }

  clear(): void {
    this.#inputs.clear();
    this.#parts = [];
  }

  /** Returns the part for an input: one of the same kind in this step, or a new one. */
  #inputPart(toolCallId: string, isDynamic: boolean, type: string, step: number): ToolPart {
    const same = this.#parts.filter((part) => part.toolCallId === toolCallId);
    const current = same.filter((part) => part.step === step);
    const part = current.find((candidate) => candidate.isDynamic === isDynamic);
    if (part) {
      if (part.state !== 'streaming') this.#violation('S6-once', `${type} reopens the complete call ${toolCallId}.`);
      return part;
    }
    if (current.length > 0) {
      this.#violation('S5-dynamic', `${type} changes "dynamic": ${toolCallId} now has two parts.`);
    } else if (same.length > 0) {
      this.#violation('S6-once', `${type} is in a later step than its call: ${toolCallId} now has two parts.`);
    }
    const added: ToolPart = {
      toolCallId,
      isDynamic,
      step,
      state: 'streaming',
      providerExecuted: false,
      callMeta: undefined,
      resultMeta: undefined,
    };
    this.#parts.push(added);
    return added;
  }

  /** Finds the part for an output or an approval: in this step, else the last one of the message. */
  #find(type: string, toolCallId: string, step: number): ToolPart | undefined {
    const same = this.#parts.filter((part) => part.toolCallId === toolCallId);
    const part = same.find((candidate) => candidate.step === step) ?? same.at(-1);
    if (part === undefined) {
      this.#violation('T4-call', `The client throws on this ${type}: the message has no call ${toolCallId}.`);
    }
    return part;
  }
}

function toState(state: unknown, isPreliminary: boolean): ToolPart['state'] {
  if (state === 'input-streaming') return 'streaming';
  if (state === 'output-available') return isPreliminary ? 'preliminary' : 'settled';
  return state === 'output-error' || state === 'output-denied' ? 'settled' : 'complete';
}

function getStepId(metadata: unknown): string | undefined {
  return asText(asFields(asFields(metadata)[metadataKey]).stepId);
}

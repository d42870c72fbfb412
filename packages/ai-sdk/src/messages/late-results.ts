import type { JsonObject, MessagePart, Meta } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import type { ModelPart, Turns } from './group-model-messages.ts';
import { asFields, asNonEmptyText } from '../shared/read-fields.ts';

/** Metadata of a result that did not come right after its call: the part it came after, and the step it came in. */
export function lateResult(after: string | undefined, stepId: string | undefined): Meta {
  const place: JsonObject = { ...(after !== undefined && { after }), ...(stepId !== undefined && { stepId }) };
  return { 'ai-sdk': { place } };
}

type Held = { part: ToolPart; result: ModelPart };

/**
 * Results of tools that a provider ran, which came later than right after their call: Anthropic's code execution calls other
 * tools before its own result, and may end in a later step. A result goes back in the place where it came.
 */
export class LateResults {
  /** The index and step of each part, by its id. */
  #parts = new Map<string, { index: number; stepId: string | undefined }>();
  #behind = new Map<string, Held[]>();
  #atStep = new Map<string, Held[]>();

  constructor(parts: readonly MessagePart[]) {
    for (const [index, part] of parts.entries()) {
      const id = idOf(part);
      if (id !== undefined) this.#parts.set(id, { index, stepId: part.stepId });
    }
  }

  /** Whether the result is written later than its call. */
  hold(part: ToolPart, result: ModelPart): boolean {
    const place = asFields(part.resultMetadata?.['ai-sdk']?.['place']);
    const after = asNonEmptyText(place.after) ?? '';
    const stepId = asNonEmptyText(place.stepId) ?? part.stepId;
    const last = this.#parts.get(after);
    const call = this.#parts.get(part.toolCallId);
    if (last && call && last.index > call.index && last.stepId === stepId) add(this.#behind, after, { part, result });
    else if (stepId !== undefined && stepId !== part.stepId) add(this.#atStep, stepId, { part, result });
    else return false;
    return true;
  }

  /** Writes the results that came first in a step, before its first part. */
  atStep(stepId: string | undefined, turns: Turns): void {
    if (stepId === undefined) return;
    for (const { part, result } of this.#atStep.get(stepId) ?? [])
      turns.of({ ...part, stepId }, 'call').said.push(result);
    this.#atStep.delete(stepId);
  }

  /** Writes the results that came after a part. */
  behind(part: MessagePart, turns: Turns): void {
    const id = idOf(part);
    if (id === undefined) return;
    for (const held of this.#behind.get(id) ?? []) {
      turns
        .of({ ...held.part, ...(part.stepId !== undefined && { stepId: part.stepId }) }, 'call')
        .said.push(held.result);
    }
    this.#behind.delete(id);
  }

  /** Writes the results of steps that have no parts. */
  atEnd(turns: Turns): void {
    for (const stepId of this.#atStep.keys()) this.atStep(stepId, turns);
  }
}

function add(map: Map<string, Held[]>, key: string, held: Held): void {
  map.set(key, [...(map.get(key) ?? []), held]);
}

function idOf(part: MessagePart): string | undefined {
  return part.type === 'tool-invocation' ? part.toolCallId : part.id;
}

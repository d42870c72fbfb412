import type { JsonObject, MessagePart, Meta } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import type { ModelPart, ModelSteps } from './model-steps.ts';
import { asFields, asNonEmptyText } from '../shared/read-fields.ts';

/** Metadata of a result that did not directly follow its call: the part before it, and its step. */
export function toLateResultMeta(after: string | undefined, stepId: string | undefined): Meta {
  const place: JsonObject = { ...(after !== undefined && { after }), ...(stepId !== undefined && { stepId }) };
  return { 'ai-sdk': { place } };
}

type Deferred = { part: ToolPart; result: ModelPart };

/**
 * Writes late results of provider-executed tools back where they occurred. Anthropic's code execution calls other tools
 * before its own result, and may end in a later step.
 */
export class LateResults {
  /** Index and step of each part, by its id. */
  #parts = new Map<string, { index: number; stepId: string | undefined }>();
  #afterPart = new Map<string, Deferred[]>();
  #atStep = new Map<string, Deferred[]>();

  constructor(parts: readonly MessagePart[]) {
    for (const [index, part] of parts.entries()) {
      const id = getPartId(part);
      if (id !== undefined) this.#parts.set(id, { index, stepId: part.stepId });
    }
  }

  /** Defers a result to its recorded place. Returns false if it directly follows its call. */
  defer(part: ToolPart, result: ModelPart): boolean {
    const place = asFields(part.resultMetadata?.['ai-sdk']?.['place']);
    const after = asNonEmptyText(place.after) ?? '';
    const stepId = asNonEmptyText(place.stepId) ?? part.stepId;
    const last = this.#parts.get(after);
    const call = this.#parts.get(part.toolCallId);
    if (last && call && last.index > call.index && last.stepId === stepId)
      add(this.#afterPart, after, { part, result });
    else if (stepId !== undefined && stepId !== part.stepId) add(this.#atStep, stepId, { part, result });
    else return false;
    return true;
  }

  /** Writes the results that come before the first part of a step. */
  writeAtStep(stepId: string | undefined, steps: ModelSteps): void {
    if (stepId === undefined) return;
    for (const { part, result } of this.#atStep.get(stepId) ?? []) {
      steps.get({ ...part, stepId }, 'call').content.push(result);
    }
    this.#atStep.delete(stepId);
  }

  /** Writes the results that come after a part. */
  writeAfter(part: MessagePart, steps: ModelSteps): void {
    const id = getPartId(part);
    const { stepId } = part;
    if (id === undefined) return;
    for (const late of this.#afterPart.get(id) ?? []) {
      steps.get({ ...late.part, ...(stepId !== undefined && { stepId }) }, 'call').content.push(late.result);
    }
    this.#afterPart.delete(id);
  }

  /** Writes the results of steps without parts. */
  writeRemaining(steps: ModelSteps): void {
    for (const stepId of this.#atStep.keys()) this.writeAtStep(stepId, steps);
  }
}

function add(map: Map<string, Deferred[]>, key: string, deferred: Deferred): void {
  map.set(key, [...(map.get(key) ?? []), deferred]);
}

function getPartId(part: MessagePart): string | undefined {
  return part.type === 'tool-invocation' ? part.toolCallId : part.id;
}

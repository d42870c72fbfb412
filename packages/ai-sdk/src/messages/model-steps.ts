import type { Json, MessagePart, Meta } from '@intertie/core';

/** A part of a model message. */
export type ModelPart = { type: string; [key: string]: Json | URL | undefined };

/** Model message under construction. Its parts are wider than the types of `ai` allow. */
export type BuiltMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | ModelPart[];
  providerOptions?: Meta;
};

/** One step of the model: the content of its assistant message and the results of its calls. */
export type ModelStep = {
  content: ModelPart[];
  results: ModelPart[];
  /** Whether text after a call belongs to the next step, because the call's result was known within this one. */
  isSplit?: boolean;
};

/** Groups the parts of one message into model steps, in order of their start. Steps of several agents may overlap. */
export class ModelSteps {
  #steps: ModelStep[] = [];
  #byId = new Map<string, ModelStep>();
  #current: { step: ModelStep; isOver: boolean } | undefined;

  /** Returns the step of a part. Without a `stepId`, text after a result begins a new step. */
  get(part: MessagePart, kind: 'text' | 'call'): ModelStep {
    const { stepId } = part;
    const open = stepId === undefined ? undefined : this.#byId.get(stepId);
    const named = open?.isSplit === true && kind === 'text' ? undefined : open;
    const isOver = this.#current?.isOver === true && kind === 'text';
    const step = named ?? (stepId === undefined && this.#current && !isOver ? this.#current.step : this.#begin(stepId));
    const hasResult = part.type === 'tool-invocation' && (part.executor !== 'provider' || step.isSplit === true);
    // Parts without a `stepId` join a named step only until its calls have results.
    this.#current = { step, isOver: hasResult || (this.#current?.step === step && this.#current.isOver) };
    return step;
  }

  /** Builds the messages. Providers that sign reasoning refuse a step that ends with it, so trailing reasoning is dropped. */
  toMessages(onDrop: (reasoning: ModelPart) => void): BuiltMessage[] {
    return this.#steps.flatMap(({ content, results }): BuiltMessage[] => {
      while (content.at(-1)?.type === 'reasoning') onDrop(content.pop()!);
      return [
        ...(content.length > 0 ? [{ role: 'assistant' as const, content }] : []),
        ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
      ];
    });
  }

  #begin(stepId: string | undefined): ModelStep {
    const step: ModelStep = { content: [], results: [] };
    this.#steps.push(step);
    if (stepId !== undefined) this.#byId.set(stepId, step);
    return step;
  }
}

import type { MessageContent, Usage } from '@intertie/core';
import { isCutOff, type ToolPart } from '@intertie/core/internal';
import type { LoggedStep } from './resume-plan.ts';

type Steps = { steps: readonly unknown[] };
type StopCondition = (state: Steps) => unknown;
type PrepareStep = (state: Steps & { stepNumber: number }) => unknown;

/**
 * Steps that a run had before it was resumed, in the shape that `stopWhen` and `prepareStep` of `streamText` receive: text, calls,
 * results, usage and finish reason. Request and response messages are not in the log.
 */
export class EarlierSteps {
  #steps: readonly unknown[];

  constructor(steps: readonly LoggedStep[], content: MessageContent) {
    this.#steps = steps.map((step, index) => toStepResult(step, index, content));
  }

  /** Settings of `streamText` whose functions also see the earlier steps. */
  extend(settings: { [name: string]: unknown }): { [name: string]: unknown } {
    const { prepareStep } = settings;
    const conditions = listConditions(settings);
    return {
      ...settings,
      stopWhen: conditions.map((condition) => (state: Steps) => condition(this.#extendState(state))),
      ...(isPrepareStep(prepareStep) && {
        prepareStep: (state: Steps & { stepNumber: number }) =>
          prepareStep({ ...this.#extendState(state), stepNumber: state.stepNumber + this.#steps.length }),
      }),
    };
  }

  /** Whether a stop condition ends the run after the earlier steps. */
  async areLast(settings: { [name: string]: unknown }): Promise<boolean> {
    if (this.#steps.length === 0) return false;
    const state = { steps: this.#steps };
    return (await Promise.all(listConditions(settings).map((condition) => condition(state)))).some(Boolean);
  }

  #extendState<State extends Steps>(state: State): State {
    return { ...state, steps: [...this.#steps, ...state.steps] };
  }
}

function listConditions({ stopWhen }: { [name: string]: unknown }): StopCondition[] {
  return [stopWhen].flat().filter((condition) => typeof condition === 'function') as StopCondition[];
}

function isPrepareStep(value: unknown): value is PrepareStep {
  return typeof value === 'function';
}

function toStepResult({ stepId, end }: LoggedStep, stepNumber: number, { parts }: MessageContent): unknown {
  const own = parts.filter((part) => part.stepId === stepId);
  const calls = own.filter((part): part is ToolPart => part.type === 'tool-invocation' && !isCutOff(part));
  const toolCalls = calls.map(toCall);
  const toolResults = calls.flatMap((part) =>
    part.state === 'result' ? [{ ...toCall(part), type: 'tool-result', output: part.result }] : [],
  );
  const texts = own.flatMap((part) => (part.type === 'text' ? [{ type: 'text', text: part.text }] : []));
  const reasoning = own.flatMap((part) =>
    part.type === 'reasoning' ? [{ type: 'reasoning', text: part.reasoning }] : [],
  );
  return {
    stepNumber,
    content: [...reasoning, ...texts, ...toolCalls, ...toolResults],
    text: texts.map(({ text }) => text).join(''),
    reasoning,
    reasoningText: reasoning.length > 0 ? reasoning.map(({ text }) => text).join('') : undefined,
    files: [],
    sources: [],
    toolCalls,
    staticToolCalls: toolCalls.filter(({ dynamic }) => !dynamic),
    dynamicToolCalls: toolCalls.filter(({ dynamic }) => dynamic),
    toolResults,
    staticToolResults: toolResults.filter(({ dynamic }) => !dynamic),
    dynamicToolResults: toolResults.filter(({ dynamic }) => dynamic),
    finishReason: end.finishReason ?? 'tool-calls',
    rawFinishReason: end.rawFinishReason,
    usage: toUsage(end.usage ?? []),
    warnings: end.warnings ?? [],
    request: {},
    response: { ...end.response, messages: [] },
    providerMetadata: end.providerMetadata,
  };
}

type Call = { type: string; toolCallId: string; toolName: string; input: unknown; dynamic: boolean };

function toCall({ toolCallId, toolName, args, dynamic = false }: ToolPart): Call {
  return { type: 'tool-call', toolCallId, toolName, input: args, dynamic };
}

/** A step has one model, so the first entry is its usage. */
function toUsage([usage = {}]: readonly Usage[]): unknown {
  const { inputTokens, outputTokens, totalTokens, reasoningTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const noCacheTokens =
    inputTokens === undefined ? undefined : inputTokens - (cacheReadTokens ?? 0) - (cacheWriteTokens ?? 0);
  const textTokens = outputTokens === undefined ? undefined : outputTokens - (reasoningTokens ?? 0);
  return {
    inputTokens,
    inputTokenDetails: { noCacheTokens, cacheReadTokens, cacheWriteTokens },
    outputTokens,
    outputTokenDetails: { textTokens, reasoningTokens },
    totalTokens,
    reasoningTokens,
    cachedInputTokens: cacheReadTokens,
  };
}

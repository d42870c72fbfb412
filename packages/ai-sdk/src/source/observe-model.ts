import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import type { ModelCall, OnModelCall, Usage } from '@intertie/core';
import { defined, override } from '@intertie/core/internal';
import { gateway, type LanguageModel } from 'ai';
import { asFields, asNumber, omit } from '../shared/read-fields.ts';

/** Reports the streamed calls of a model, with their usage or error. */
export function observeModel(model: LanguageModel, onModelCall: OnModelCall): LanguageModel {
  // Later versions of the provider interface have the same fields.
  const called = (typeof model === 'string' ? resolveModel(model) : model) as LanguageModelV3;
  const doStream: LanguageModelV3['doStream'] = async (options) => {
    const end = onModelCall(toModelCall(called, options));
    try {
      const result = await called.doStream(options);
      return { ...result, stream: result.stream.pipeThrough(observeEnd(end)) };
    } catch (error) {
      end({ error: toText(error) });
      throw error;
    }
  };
  return override(called, { doStream });
}

/** Resolves the name of a model as `streamText` does. */
function resolveModel(name: string): unknown {
  const { AI_SDK_DEFAULT_PROVIDER: provider } = globalThis as { AI_SDK_DEFAULT_PROVIDER?: typeof gateway };
  return (provider ?? gateway).languageModel(name);
}

function toModelCall({ provider, modelId }: LanguageModelV3, options: LanguageModelV3CallOptions): ModelCall {
  const { prompt, tools = [] } = options;
  // Headers can contain credentials.
  const settings = defined(omit(options, 'prompt', 'tools', 'abortSignal', 'headers', 'includeRawChunks'));
  return { provider, model: modelId, prompt, tools, settings };
}

function observeEnd(
  end: ReturnType<OnModelCall>,
): TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart> {
  return new TransformStream({
    transform(part, controller) {
      if (part.type === 'finish') end({ usage: readUsage(part.usage) });
      if (part.type === 'error') end({ error: toText(part.error) });
      controller.enqueue(part);
    },
  });
}

/** Reads the counts of all versions: version 2 of the provider interface has numbers, later ones have objects. */
function readUsage(value: unknown): Usage {
  const usage = asFields(value);
  const input = asFields(usage.inputTokens);
  const output = asFields(usage.outputTokens);
  return defined({
    inputTokens: asNumber(input.total) ?? asNumber(usage.inputTokens),
    outputTokens: asNumber(output.total) ?? asNumber(usage.outputTokens),
    reasoningTokens: asNumber(output.reasoning) ?? asNumber(usage.reasoningTokens),
    cacheReadTokens: asNumber(input.cacheRead) ?? asNumber(usage.cachedInputTokens),
    cacheWriteTokens: asNumber(input.cacheWrite),
  });
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

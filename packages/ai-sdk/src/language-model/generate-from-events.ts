import type {
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import type { AgentEvent } from '@intertie/core';
import { createLanguageModelV3Encoder, type LanguageModelV3EncoderOptions } from './encode-language-model-v3.ts';

/** Collects a run into the result of a V3 model's `doGenerate`, from the same parts as the stream. Rejects if the run failed. */
export async function generateFromEvents(
  events: AsyncIterable<AgentEvent> | Iterable<AgentEvent>,
  options: LanguageModelV3EncoderOptions = {},
): Promise<LanguageModelV3GenerateResult> {
  const encoder = createLanguageModelV3Encoder(options);
  const result = new ResultBuilder();
  const emit = (part: LanguageModelV3StreamPart): void => result.add(part);
  for await (const event of events) encoder.feed(event, emit);
  encoder.end({ reason: 'eof' }, emit);
  return result.build();
}

type TextContent = { type: 'text' | 'reasoning'; text: string; providerMetadata?: SharedV3ProviderMetadata };

class ResultBuilder {
  #content: LanguageModelV3Content[] = [];
  #open = new Map<string, TextContent>();
  #info: Pick<LanguageModelV3GenerateResult, 'warnings' | 'response'> = { warnings: [] };
  #finish: Extract<LanguageModelV3StreamPart, { type: 'finish' }> | undefined;
  #error: unknown;

  add(part: LanguageModelV3StreamPart): void {
    switch (part.type) {
      case 'stream-start':
        this.#info.warnings = part.warnings;
        return;
      case 'response-metadata': {
        const { type: _, ...response } = part;
        this.#info.response = { ...this.#info.response, ...response };
        return;
      }
      case 'text-start':
      case 'reasoning-start':
        return this.#startText(part.id, part.type === 'text-start' ? 'text' : 'reasoning', part);
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end': {
        const content = this.#open.get(part.id);
        if (!content) return;
        if ('delta' in part) content.text += part.delta;
        if (part.providerMetadata) content.providerMetadata = part.providerMetadata;
        return;
      }
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'raw':
        return;
      case 'error':
        this.#error ??= part.error;
        return;
      case 'finish':
        this.#finish = part;
        return;
      default:
        this.#content.push(part);
    }
  }

  build(): LanguageModelV3GenerateResult {
    if (this.#error !== undefined) throw this.#error;
    const { usage, finishReason, providerMetadata } = this.#finish!;
    return {
      content: this.#content,
      finishReason,
      usage,
      ...(providerMetadata && { providerMetadata }),
      ...this.#info,
    };
  }

  #startText(
    id: string,
    type: TextContent['type'],
    { providerMetadata }: { providerMetadata?: SharedV3ProviderMetadata },
  ): void {
    const content: TextContent = { type, text: '', ...(providerMetadata && { providerMetadata }) };
    this.#open.set(id, content);
    this.#content.push(content);
  }
}

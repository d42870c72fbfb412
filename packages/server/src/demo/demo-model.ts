import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { toReadableStream } from '@intertie/core';
import { pause } from '@intertie/core/internal';
import { selectScript, type DemoPrompt, type DemoScript } from './demo-script.ts';

export type DemoModelOptions = {
  /** Delay before each text delta, in milliseconds. Default: 25. */
  paceMs?: number;
};

/** Language model that streams a script at a human pace. Needs no API key and no network. */
export function demoModel({ paceMs = 25 }: DemoModelOptions = {}): LanguageModelV3 {
  return {
    specificationVersion: 'v3',
    provider: 'intertie-demo',
    modelId: 'demo',
    supportedUrls: {},
    async doStream(options) {
      return { stream: toReadableStream(streamParts(selectScript(readPrompt(options)), options, paceMs)) };
    },
    async doGenerate() {
      throw new Error('The demo model only streams.');
    },
  };
}

/** Reads the last user message and the tool results after it. */
function readPrompt({ prompt, tools = [] }: LanguageModelV3CallOptions): DemoPrompt {
  const from = prompt.findLastIndex(({ role }) => role === 'user');
  const user = prompt[from];
  const text =
    user?.role === 'user' ? user.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ') : '';
  const results = prompt.slice(from + 1).flatMap((message) => {
    if (message.role !== 'tool') return [];
    return message.content.flatMap((part) => {
      if (part.type !== 'tool-result') return [];
      const { toolName, output } = part;
      return [
        {
          toolName,
          output: 'value' in output ? output.value : undefined,
          isDenied: output.type === 'execution-denied',
        },
      ];
    });
  });
  return { text, results, tools: tools.map(({ name }) => name) };
}

async function* streamParts(
  script: DemoScript,
  { prompt, abortSignal = new AbortController().signal }: LanguageModelV3CallOptions,
  paceMs: number,
): AsyncGenerator<LanguageModelV3StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  let words = 0;
  let isCalling = false;
  const wait = async (): Promise<void> => {
    words += 1;
    if (paceMs > 0) await pause(paceMs, abortSignal);
    else abortSignal.throwIfAborted();
  };
  for (const [index, part] of script.entries()) {
    const id = String(index);
    if ('kind' in part) {
      yield { type: `${part.kind}-start`, id };
      for (const delta of part.text.match(/\S+\s*|\s+/g) ?? []) {
        await wait();
        yield { type: `${part.kind}-delta`, id, delta };
      }
      yield { type: `${part.kind}-end`, id };
    } else if ('call' in part) {
      isCalling = true;
      const toolCallId = crypto.randomUUID();
      const input = JSON.stringify(part.input);
      yield { type: 'tool-input-start', id: toolCallId, toolName: part.call };
      for (const delta of input.match(/.{1,12}/gs) ?? []) {
        await wait();
        yield { type: 'tool-input-delta', id: toolCallId, delta };
      }
      yield { type: 'tool-input-end', id: toolCallId };
      yield { type: 'tool-call', toolCallId, toolName: part.call, input };
    } else if ('file' in part) {
      yield { type: 'file', mediaType: part.mediaType, data: new TextEncoder().encode(part.file) };
    } else throw new Error(part.fail);
  }
  const inputTokens = JSON.stringify(prompt).length >> 2;
  yield {
    type: 'finish',
    finishReason: { unified: isCalling ? 'tool-calls' : 'stop', raw: undefined },
    usage: {
      inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: words, text: words, reasoning: undefined },
    },
  };
}

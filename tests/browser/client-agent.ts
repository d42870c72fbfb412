import { jsonSchema, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { model } from 'intertie';

type StreamOptions = Parameters<MockLanguageModelV3['doStream']>[0];
type Parts =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const empty = jsonSchema({ type: 'object', properties: {} });

/** Agent for pages of all clients: a tool, a tool with an approval, a tool of the page, a long answer and an error. */
export const clientAgent = model(
  new MockLanguageModelV3({ modelId: 'scripted', doStream: async (options) => answer(options) }),
  {
    description: 'Scripted.',
    tools: {
      weather: tool({ inputSchema: empty, execute: async () => 'sunny' }),
      sendEmail: tool({ inputSchema: empty, needsApproval: true, execute: async () => 'sent' }),
    },
  },
);

function answer({ prompt, abortSignal }: StreamOptions): { stream: ReadableStream<Parts> } {
  const last = prompt.at(-1);
  const part = last && typeof last.content !== 'string' ? last.content.at(-1) : undefined;
  if (part?.type === 'tool-result') {
    const { output } = part;
    return stream([`The result is: ${'value' in output ? JSON.stringify(output.value) : output.type}.`], abortSignal);
  }
  const text = part?.type === 'text' ? part.text : '';
  const call = /weather/i.test(text)
    ? 'weather'
    : /email/i.test(text)
      ? 'sendEmail'
      : /where/i.test(text)
        ? 'getLocation'
        : undefined;
  if (call) return stream([], abortSignal, call);
  if (/fail/i.test(text)) throw new Error('The model is away.');
  const words = /long/i.test(text)
    ? Array.from({ length: /very/i.test(text) ? 400 : 60 }, (_, n) => `word-${n} `)
    : ['You said: ', text, '.'];
  return stream(words, abortSignal);
}

/** Streams the words with pauses, so that a page can stop, reload or reconnect in between. */
function stream(words: readonly string[], signal?: AbortSignal, call?: string): { stream: ReadableStream<Parts> } {
  async function* write(): AsyncGenerator<Parts> {
    if (words.length > 0) yield { type: 'text-start', id: '0' };
    for (const delta of words) {
      yield { type: 'text-delta', id: '0', delta };
      await new Promise((resolve) => setTimeout(resolve, words.length > 10 ? 50 : 5));
      signal?.throwIfAborted();
    }
    if (words.length > 0) yield { type: 'text-end', id: '0' };
    if (call) yield { type: 'tool-call', toolCallId: crypto.randomUUID(), toolName: call, input: '{}' };
    const reason = call ? 'tool-calls' : 'stop';
    yield { type: 'finish', finishReason: { unified: reason, raw: reason }, usage };
  }
  const parts = write();
  return {
    stream: new ReadableStream({
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    }),
  };
}

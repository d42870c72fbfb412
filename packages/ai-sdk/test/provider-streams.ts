import { createAnthropic } from '@ai-sdk/anthropic';
import { createAnthropic as createAnthropic4 } from '@ai-sdk/anthropic-4';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createGoogleGenerativeAI as createGoogle4 } from '@ai-sdk/google-4';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAI as createOpenAI4 } from '@ai-sdk/openai-4';
import { createPerplexity } from '@ai-sdk/perplexity';
import { createXai } from '@ai-sdk/xai';
import type { LanguageModel } from 'ai';

type Fetch = typeof globalThis.fetch;
type Settings = { apiKey: string; baseURL: string; fetch: Fetch };

/** Frames of one response: each becomes the data of one server-sent event. */
export type Frames = ReadonlyArray<object | '[DONE]'>;

/** Answers the n-th request with the n-th list of frames, and every later request with the last one. */
function replay(responses: readonly Frames[]): Fetch {
  let requests = 0;
  return async () => {
    const frames = responses[Math.min(requests, responses.length - 1)] ?? [];
    requests += 1;
    const body = frames.map((frame) => `data: ${frame === '[DONE]' ? frame : JSON.stringify(frame)}\n\n`).join('');
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

const providers = {
  anthropic: {
    6: (settings: Settings) => createAnthropic(settings)('claude-sonnet-4-5'),
    7: (settings: Settings) => createAnthropic4(settings)('claude-sonnet-4-5'),
  },
  google: {
    6: (settings: Settings) => createGoogleGenerativeAI(settings)('gemini-2.5-flash'),
    7: (settings: Settings) => createGoogle4(settings)('gemini-2.5-flash'),
  },
  'google interactions': {
    6: (settings: Settings) => createGoogleGenerativeAI(settings).interactions('gemini-2.5-flash'),
    7: (settings: Settings) => createGoogle4(settings).interactions('gemini-2.5-flash'),
  },
  openai: {
    6: (settings: Settings) => createOpenAI(settings).responses('gpt-5'),
    7: (settings: Settings) => createOpenAI4(settings).responses('gpt-5'),
  },
  // One version serves both majors: ai 7 also takes models of the older specification.
  perplexity: {
    6: (settings: Settings) => createPerplexity(settings)('sonar'),
    7: (settings: Settings) => createPerplexity(settings)('sonar'),
  },
  xai: {
    6: (settings: Settings) => createXai(settings)('grok-3-mini'),
    7: (settings: Settings) => createXai(settings)('grok-3-mini'),
  },
};

export type ProviderName = keyof typeof providers;

/** A model of the real provider package for that major of `ai`, whose HTTP responses are the given frames. */
export function providerModel(name: ProviderName, major: 6 | 7, ...responses: Frames[]): LanguageModel {
  const settings = { apiKey: 'test', baseURL: 'http://127.0.0.1/v1', fetch: replay(responses) };
  return providers[name][major](settings) as LanguageModel;
}

/** Anthropic Messages: one streamed call of a tool. */
export function anthropicCall(id: string, toolName: string, input: object): Frames {
  return [
    anthropicStart(),
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id, name: toolName, input: {} } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
    },
    { type: 'content_block_stop', index: 0 },
    ...anthropicEnd('tool_use'),
  ];
}

export function anthropicText(text: string): Frames {
  return [
    anthropicStart(),
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    ...anthropicEnd('end_turn'),
  ];
}

function anthropicStart(): object {
  const usage = { input_tokens: 3, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], usage };
  return { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } };
}

function anthropicEnd(stop_reason: string): Frames {
  return [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}

/** Google: every chunk carries usage, and the last one the finish reason. */
export function googleText(...texts: string[]): Frames {
  return texts.map((text, index) => ({
    candidates: [
      {
        content: { parts: [{ text }], role: 'model' },
        index: 0,
        ...(index === texts.length - 1 && { finishReason: 'STOP' }),
      },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: index + 1, totalTokenCount: index + 4 },
  }));
}

/** Google Interactions: the status is `in_progress` from the first event to the last but one. */
export function googleInteractionsText(...texts: string[]): Frames {
  const interaction = { id: 'v1_1', object: 'interaction', model: 'gemini-2.5-flash' };
  const usage = { total_tokens: 8, total_input_tokens: 3, total_output_tokens: 5 };
  return [
    { event_type: 'interaction.created', interaction: { ...interaction, status: 'in_progress' } },
    { event_type: 'interaction.status_update', interaction_id: 'v1_1', status: 'in_progress' },
    { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
    ...texts.map((text) => ({ event_type: 'step.delta', index: 0, delta: { type: 'text', text } })),
    { event_type: 'step.stop', index: 0 },
    { event_type: 'interaction.completed', interaction: { ...interaction, status: 'completed', usage } },
  ];
}

/** Perplexity: every chunk carries usage and citations, and the last one the finish reason. */
export function perplexityText(...texts: string[]): Frames {
  return texts.map((content, index) => ({
    id: 'pplx-1',
    created: 1_700_000_000,
    model: 'sonar',
    object: 'chat.completion.chunk',
    citations: ['https://example.com/a', 'https://example.com/b'],
    choices: [
      { index: 0, delta: { role: 'assistant', content }, finish_reason: index === texts.length - 1 ? 'stop' : null },
    ],
    usage: { prompt_tokens: 3, completion_tokens: index + 1, total_tokens: index + 4 },
  }));
}

/** xAI: reasoning tokens are not part of the completion tokens. */
export function xaiText(...texts: string[]): Frames {
  const chunk = { id: 'x-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'grok-3-mini' };
  const usage = {
    prompt_tokens: 12,
    completion_tokens: 2,
    total_tokens: 94,
    completion_tokens_details: { reasoning_tokens: 80 },
  };
  return [
    ...texts.map((content) => ({
      ...chunk,
      choices: [{ index: 0, delta: { role: 'assistant', content } }],
      usage,
    })),
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
    '[DONE]',
  ];
}

/** OpenAI Responses: an image in several results, the last of which is final. */
export function openaiImage(partial: readonly string[], final: string): Frames {
  const item = { id: 'ig_1', type: 'image_generation_call' };
  const response = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'gpt-5', output: [] };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    ...partial.map((partial_image_b64, index) => ({
      type: 'response.image_generation_call.partial_image',
      item_id: 'ig_1',
      output_index: 0,
      partial_image_index: index,
      partial_image_b64,
    })),
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...item, status: 'completed', result: final, output_format: 'png', revised_prompt: 'A cat.' },
    },
    {
      type: 'response.completed',
      response: { ...response, status: 'completed', usage: { input_tokens: 3, output_tokens: 5 } },
    },
  ];
}

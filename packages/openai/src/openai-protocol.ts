import type { Protocol } from '@intertie/core';
import { asFields, getItemType, toRunIds } from '@intertie/core/internal';
import { createResponsesChecker } from './check/responses-checker.ts';
import { responsesRules } from './check/responses-rules.ts';
import { createResponsesDecoder } from './decode/decode-responses.ts';
import { createResponsesEncoder } from './encode/encode-responses.ts';
import { openaiEndpoints } from './endpoints.ts';
import { terminalEvents, type ResponseEvent } from './shared/response-event.ts';
import { formatResponseId } from './shared/response-object.ts';

/** The Responses API of OpenAI: its rules, how it is detected, checked, decoded and encoded, and how agents are served. */
export const openai: Protocol<ResponseEvent> = {
  name: 'openai-responses',
  aliases: ['openai', 'responses', 'open-responses'],
  label: 'OpenAI Responses',
  title: 'OpenAI Responses events, as the openai packages and Codex read them',
  framing: { mediaTypes: ['text/event-stream'] },
  rules: responsesRules,
  looksLike: (item) => /^response\.[a-z_]+(?:\.[a-z_]+)*$/.test(getItemType(item)),
  getKind: (item) => getItemType(item) || 'unknown',
  startsRun: (item) => getItemType(item) === 'response.created',
  endsRun: (item) => terminalEvents.has(getItemType(item)),
  readRunIds: (item) => {
    const { id, created_at: at, conversation } = asFields(asFields(item).response);
    const time = typeof at === 'number' ? at * 1000 : undefined;
    return toRunIds({ runId: id, threadId: asFields(conversation).id, at: time });
  },
  items: {
    families: {
      run: ['response.created', 'response.queued', 'response.in_progress', 'response.completed', 'response.incomplete'],
      text: ['response.output_text.*', 'response.content_part.*', 'response.refusal.*'],
      reasoning: ['response.reasoning*'],
      tool: ['response.function_call*', 'response.mcp_*', 'response.*_call.*'],
      data: ['response.output_item.*'],
      notice: ['response.failed', 'error'],
    },
    deltas: ['*.delta'],
  },
  examples: {
    convert: [['intertie convert --to openai-responses run.sse', 'A recorded stream for an OpenAI client:']],
  },
  checker: createResponsesChecker,
  decoder: (run, onLoss) => createResponsesDecoder(run, { onLoss }),
  encoder: ({ runId, threadId, startedAt }, onLoss) =>
    createResponsesEncoder({
      response: {
        id: formatResponseId({ run: runId, from: 0 }),
        model: 'agent',
        conversation: threadId,
        createdAt: startedAt,
      },
      onLoss,
    }),
  endpoints: openaiEndpoints,
};

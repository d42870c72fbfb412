import { openai } from '@intertie/openai';
import type { CanonicalMessage } from '@intertie/core';
import OpenAI from 'openai';
import type { Response, ResponseInputItem, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { collect } from './client.ts';
import { listViolations, readDisturbed, storedMessages, type Protocol, type Reply } from './protocol.ts';

/** Unmodified client of `openai`. */
export const openaiProtocol: Protocol = {
  name: 'OpenAI Responses',
  async run(test) {
    const { responses } = new OpenAI({ baseURL: `${test.base}/v1`, apiKey: 'none', maxRetries: 0 });
    const request = { model: test.agent, stream: true } as const;
    const sent = await responses.create({ ...request, input: test.text, conversation: test.thread });
    const events = await readDisturbed(test, sent, {
      // The first four create the response and its first text.
      count: 6,
      abort: ([created]) => responses.cancel(getResponse(created).id),
    });
    const { id } = getResponse(events[0]);
    if (test.scenario === 'resume') {
      const after = { starting_after: events.at(-1)!.sequence_number };
      events.push(...(await collect(await responses.retrieve(id, { stream: true, ...after }))));
    }
    const streams = [events];
    if (test.reply) {
      const input = toReply(getResponse(events.at(-1)), test.reply);
      streams.push(await collect(await responses.create({ ...request, input, previous_response_id: id })));
    }
    const stored = await storedMessages<CanonicalMessage>(test, 'canonical');
    return {
      client: streams.flatMap((each) => getResponse(each.at(-1)).output.flatMap(toVisibleItem)),
      stored: stored.flatMap(toVisibleParts),
      violations: listViolations(openai, streams),
    };
  },
};

/** Returns the response that the first and the last event of a stream contain. */
function getResponse(event: ResponseStreamEvent | undefined): Response {
  if (event && 'response' in event) return event.response;
  throw new Error(`The event has no response: ${JSON.stringify(event)}`);
}

function toReply({ output }: Response, reply: Reply): string | ResponseInputItem[] {
  if ('text' in reply) return reply.text;
  return output.flatMap((item): ResponseInputItem[] => {
    if (item.type === 'mcp_approval_request' && 'approve' in reply)
      return [{ type: 'mcp_approval_response', approval_request_id: item.id, approve: true }];
    if (item.type === 'function_call' && 'output' in reply)
      return [{ type: 'function_call_output', call_id: item.call_id, output: reply.output }];
    return [];
  });
}

/** Texts, reasoning and results of tools, by the ids of the stored parts. */
function toVisibleItem(item: Response['output'][number]): unknown[] {
  if (item.type === 'message' || item.type === 'reasoning') {
    const texts = (item.content ?? []).map((part) => ('text' in part ? part.text : ''));
    return [{ id: item.id.replace(/^(?:msg|rs)_/, ''), text: texts.join('') }];
  }
  if (item.type !== 'mcp_call' || item.status !== 'completed') return [];
  return [{ id: item.id.replace(/^mcp_/, ''), output: item.output }];
}

/** The parts of an answer that OpenAI clients see: no text between agents, and no output that the client has sent. */
function toVisibleParts({ role, content }: CanonicalMessage): unknown[] {
  if (role !== 'assistant') return [];
  return content.parts.flatMap((part): unknown[] => {
    if (part.internal) return [];
    if (part.type === 'text') return [{ id: part.id, text: part.text }];
    if (part.type === 'reasoning') return [{ id: part.id, text: part.reasoning }];
    if (part.type !== 'tool-invocation' || part.state !== 'result' || part.executor === 'client') return [];
    return [
      { id: part.toolCallId, output: typeof part.result === 'string' ? part.result : JSON.stringify(part.result) },
    ];
  });
}

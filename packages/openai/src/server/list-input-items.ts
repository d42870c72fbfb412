import type {
  Answer,
  CanonicalMessage,
  DurableAgent,
  JsonObject,
  MessagePart,
  Question,
  RunRecord,
} from '@intertie/core';
import type { RunEntry, ToolPart } from '@intertie/core/internal';
import { createResponsesEncoder } from '../encode/encode-responses.ts';
import { toApprovalId, toText } from '../encode/encode-tool-items.ts';
import { toAskCallId } from '../shared/questions.ts';
import type { Flavour } from '../shared/response-event.ts';
import { OpenAIRequestError } from './openai-error.ts';
import { isWaitedFor, unfoldResponse, type Waiting } from './unfold-response.ts';

/** Lists the items that a run had as input: the messages of its branch, and the answers to the run that it continues. */
export async function listInputItems(
  { store }: DurableAgent,
  { threadId, messageId, agent, runId }: RunRecord,
  { query, flavour }: { query: URLSearchParams; flavour: Flavour },
): Promise<JsonObject> {
  const branch = await store.listMessages({ threadId, leafId: messageId });
  const items = branch.flatMap((message) => {
    if (message.role !== 'assistant') return [toInputItem(message)];
    const before = message.id === messageId ? runId : undefined;
    return listExchange(message, { model: agent, flavour, before });
  });
  // Newest first by default, as OpenAI does.
  const ordered = query.get('order') === 'asc' ? items : items.toReversed();
  const limit = readLimit(query.get('limit'));
  const after = query.get('after');
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) {
    throw new OpenAIRequestError(`\`after\` is ${after}, which is not an item.`, { param: 'after' });
  }
  const data = ordered.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  };
}

function readLimit(text: string | null): number {
  const limit = text === null ? 20 : Number(text);
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= 100) return limit;
  throw new OpenAIRequestError(`\`limit\` is ${text}. Use 1 to 100.`, { param: 'limit' });
}

/** Run of a message without one. */
const imported: RunEntry = { runId: '', outcome: 'complete' };

/** Lists the items of the responses of a message, with the answers between them. `before`: the run at which to end. */
function listExchange(
  message: CanonicalMessage,
  { model, flavour, before }: { model: string; flavour: Flavour; before: string | undefined },
): JsonObject[] {
  const { runs = before === undefined ? [imported] : [], parts } = message.content;
  const items: JsonObject[] = [];
  for (const run of runs) {
    if (run.runId === before) break;
    const encoder = createResponsesEncoder({ response: { id: 'history', model, createdAt: 0 }, flavour });
    for (const event of unfoldResponse(message, { runId: run.runId })) encoder.feed(event, () => undefined);
    items.push(...encoder.response.output);
    if (run.outcome === 'paused') items.push(...listReplies(parts, run.waitingFor, flavour));
  }
  return items;
}

/** Lists the answers of the client to a paused run, as it has sent them. */
function listReplies(parts: MessagePart[], waitingFor: Waiting, flavour: Flavour): JsonObject[] {
  return parts
    .filter((part) => isWaitedFor(part, waitingFor))
    .flatMap((part): JsonObject[] => {
      if (part.type === 'tool-invocation' && part.executor === 'client') return toToolReply(part);
      const asked = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
      return asked?.answer && !asked.answer.cancelled ? [toReply(asked, asked.answer, flavour)] : [];
    });
}

function toToolReply({ toolCallId, state, result, error }: ToolPart): JsonObject[] {
  if (state === 'call' || state === 'partial-call') return [];
  const output = state === 'result' ? toText(result ?? null) : (error?.message ?? '');
  return [toOutputItem(toolCallId, output)];
}

function toReply(question: Question, answer: Answer, flavour: Flavour): JsonObject {
  const { questionId, kind } = question;
  const { approved = false, value = null, reason } = answer;
  if (kind === 'input') return toOutputItem(toAskCallId(question), toText(value));
  const reply = { approve: approved, reason: reason ?? null };
  if (flavour === 'open-responses') return toOutputItem(toAskCallId(question), toText(reply));
  const body = { type: 'mcp_approval_response', approval_request_id: toApprovalId(question) };
  return { id: `mcprr_${questionId}`, ...body, ...reply };
}

function toOutputItem(callId: string, output: string): JsonObject {
  return { id: `fco_${callId}`, type: 'function_call_output', call_id: callId, output, status: 'completed' };
}

function toInputItem({ id, role, content }: CanonicalMessage): JsonObject {
  const parts = content.parts.flatMap(toInputPart);
  return { id: `msg_${id}`, type: 'message', role, status: 'completed', content: parts };
}

function toInputPart(part: MessagePart): JsonObject[] {
  if (part.type === 'text') return [{ type: 'input_text', text: part.text }];
  if (part.type !== 'file') return [];
  const { mimeType = 'application/octet-stream', filename = null, data, url = null } = part;
  const link = data === undefined ? url : `data:${mimeType};base64,${data}`;
  if (mimeType.startsWith('image/')) return [{ type: 'input_image', detail: 'auto', image_url: link, file_id: null }];
  return [{ type: 'input_file', filename, file_url: link, file_id: null }];
}

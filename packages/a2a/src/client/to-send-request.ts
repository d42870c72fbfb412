import type { Answer, Json, JsonObject, MessageContent, MessagePart, OnLoss, RunInput } from '@intertie/core';
import { asFields, defined } from '@intertie/core/internal';
import type { ToolAnswer } from '@intertie/core/store';
import { readToken } from '../decode/known-parts.ts';
import { toFilePart } from '../encode/to-artifacts.ts';
import type { A2AMessage, A2APart } from '../shared/a2a-types.ts';
import { eventsExtension, toExtensionMetadata } from '../shared/extension.ts';

export type SendRequestOptions = { hasExtension: boolean; onLoss: OnLoss };

/** Creates the request for a run: the new message of the user, or the answers to the questions of a task. */
export function toSendRequest(run: RunInput, { hasExtension, onLoss }: SendRequestOptions): { message: A2AMessage } {
  const { taskId, contextId } = readToken(run.sourceState);
  const request = toRequestFields(run);
  const extended = request && hasExtension ? toExtensionMetadata({ request }) : {};
  if (request && !hasExtension) {
    for (const what of Object.keys(request))
      onLoss({ kind: 'unsupported', what, why: 'An A2A message has no place for it.' });
  }
  const common = { role: 'ROLE_USER' as const, ...defined({ contextId }), ...extended };
  const extensions = 'metadata' in extended ? { extensions: [eventsExtension] } : {};
  if (run.message && taskId !== undefined) {
    const parts = toAnswerParts(run.message, run.answers);
    return { message: { ...common, ...extensions, messageId: run.runId, taskId, parts } };
  }
  const prompt = run.history.at(-1);
  if (contextId === undefined && run.history.length > 1) {
    onLoss({
      kind: 'unsupported',
      what: 'earlier messages',
      why: 'The agent gets only messages that were sent to it.',
    });
  }
  const parts = (prompt?.content.parts ?? []).flatMap((part) => toPart(part, onLoss));
  return { message: { ...common, ...extensions, messageId: prompt?.id ?? run.runId, parts } };
}

function toRequestFields({ tools, context, state, forwardedProps }: RunInput): JsonObject | undefined {
  const fields = {
    ...(tools.length > 0 && { tools }),
    ...(context.length > 0 && { context }),
    ...defined({ state, forwardedProps }),
  };
  return Object.keys(fields).length > 0 ? fields : undefined;
}

function toPart(part: MessagePart, onLoss: OnLoss): A2APart[] {
  if (part.type === 'text') return [{ text: part.text }];
  if (part.type === 'data') return [{ data: part.data }];
  const file = part.type === 'file' ? toFilePart(part) : undefined;
  if (file) return [file];
  onLoss({
    kind: 'unsupported',
    what: part.type,
    why: 'An A2A message has no place for it.',
    ...defined({ id: part.id }),
  });
  return [];
}

/** Returns the answers to everything that the last run waited for. */
function toAnswerParts(message: MessageContent, answers: ReadonlyArray<Answer | ToolAnswer>): A2APart[] {
  const awaited = new Set(listAwaitedIds(message));
  const given = new Map(
    answers.map((answer) => ['questionId' in answer ? answer.questionId : answer.toolCallId, answer]),
  );
  return message.parts.flatMap((part): A2APart[] => {
    const question = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
    if (question && awaited.has(question.questionId)) {
      const answer = (given.get(question.questionId) as Answer | undefined) ?? question.answer;
      const isText = asFields(question.providerMetadata?.a2a).answer === 'text';
      return answer ? [isText ? { text: toText(answer) } : { data: toData(answer) }] : [];
    }
    if (part.type !== 'tool-invocation' || !awaited.has(part.toolCallId)) return [];
    const { toolCallId: questionId, result = null, error } = part;
    const answer = given.get(questionId) as ToolAnswer | undefined;
    const failed = answer?.status === 'error' ? answer.error : error;
    const output = answer?.status === 'ok' ? answer.output : result;
    return [{ data: failed ? { questionId, error: failed.message } : { questionId, output } }];
  });
}

/** Returns the ids of the questions and calls that the last run of a message waits for. */
export function listAwaitedIds({ runs }: MessageContent): string[] {
  const last = runs?.at(-1);
  if (last?.outcome !== 'paused') return [];
  return last.waitingFor.flatMap((item) => {
    if (item.type === 'tool') return [item.toolCallId];
    return item.type === 'question' ? [item.questionId] : [];
  });
}

function toData({ questionId, approved, value, cancelled, reason }: Answer): Json {
  return { questionId, ...defined({ approved, value, cancelled, reason }) };
}

function toText({ approved, value, cancelled, reason }: Answer): string {
  if (cancelled) return reason ?? 'cancelled';
  if (value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value);
  return reason ?? (approved === false ? 'no' : 'yes');
}

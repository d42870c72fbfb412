import type { Json, JsonObject, Question } from '@intertie/core';
import { toJson } from '@intertie/core';
import { decodeInterruptId } from '../shared/interrupt.ts';
import { defined, asFields, isFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';
import { parseContainer } from '../shared/tool-content.ts';

/** Returns the id of a call in the message, if the agent's id names one. */
type FindCall = (wireId: string) => string | undefined;

/** Name of the CUSTOM event that LangGraph and Mastra send for an interrupt. */
export const interruptEventName = 'on_interrupt';

/** Decodes the interrupts of an outcome (AG-UI 1.0), which are answered by `resume`. */
export function decodeOutcomeInterrupts(event: Fields, findCall: FindCall): Question[] {
  const { interrupts } = asFields(event.outcome);
  return (Array.isArray(interrupts) ? interrupts : [])
    .filter(isFields)
    .filter(({ id }) => asNonEmptyText(id) !== undefined)
    .map((interrupt) => toQuestion(interrupt, findCall));
}

/** Converts an interrupt. One of another agent is an approval if it concerns a call of the message, else it requests a value. */
function toQuestion(interrupt: Fields, findCall: FindCall): Question {
  const question = decodeInterruptId(String(interrupt.id));
  const wireId = asNonEmptyText(interrupt.toolCallId);
  const toolCallId = wireId === undefined ? undefined : findCall(wireId);
  const metadata = asFields(interrupt.metadata);
  // Our ids can be computed from the question; other agents need the id that they sent.
  const isOurs = question.questionId !== interrupt.id;
  const own: JsonObject = {
    interruptId: question.questionId,
    ...(Object.keys(metadata).length > 0 && { metadata: toJson(metadata) }),
    ...(toolCallId === undefined && describeCall(wireId, asFields(metadata.mastra))),
  };
  return {
    ...question,
    ...(!isOurs && { providerMetadata: { 'ag-ui': own } }),
    ...(question.toolCallId === undefined && toolCallId !== undefined && { kind: 'approval', toolCallId }),
    ...defined({
      reason: question.reason ?? asText(interrupt.reason),
      message: asText(interrupt.message) ?? findText(metadata),
      expiresAt: asText(interrupt.expiresAt),
    }),
    ...(isFields(interrupt.responseSchema) && { schema: interrupt.responseSchema as JsonObject }),
  };
}

/**
 * Decodes an `on_interrupt` event, which is answered by `forwardedProps.command`: with `interruptEvent` if the event names the
 * suspended call and its run (Mastra), else with the value alone (LangGraph). `id`: for an interrupt without one.
 */
export function decodeCustomInterrupt(event: Fields, findCall: FindCall, id: () => string): Question {
  const { value } = event;
  const parsed = (typeof value === 'string' ? parseContainer(value) : undefined) ?? value;
  const { toolCallId: wireId, runId, suspendPayload, resumeSchema, ...fields } = asFields(parsed);
  const isSuspension = asNonEmptyText(wireId) !== undefined && asNonEmptyText(runId) !== undefined;
  const interruptId = asNonEmptyText(asFields(event.rawEvent).id);
  const command: JsonObject = isSuspension ? { interruptEvent: toJson(value) } : defined({ interruptId });
  const schema = isSuspension ? resumeSchema : (fields.responseSchema ?? fields.response_schema);
  const toolCallId = findCall(String(wireId ?? fields.tool_call_id));
  const about = isSuspension && toolCallId === undefined ? describeCall(wireId, fields) : {};
  const own = { command, ...(isSuspension ? about : { value: toJson(parsed ?? null) }) };
  return {
    questionId: isSuspension ? `${String(runId)}::${String(wireId)}` : (interruptId ?? id()),
    kind: toolCallId === undefined ? 'input' : 'approval',
    ...defined({
      toolCallId,
      reason: asNonEmptyText(fields.reason),
      message: toText(isSuspension ? suspendPayload : parsed),
      schema: parseSchema(schema),
    }),
    providerMetadata: { 'ag-ui': own },
  };
}

/** Describes a suspended call that the agent has not streamed, so that its result can be shown. */
function describeCall(toolCallId: unknown, { toolName, args }: Fields): { call?: JsonObject } {
  if (asNonEmptyText(toolCallId) === undefined || asNonEmptyText(toolName) === undefined) return {};
  return { call: { toolCallId: toolCallId as string, toolName: toolName as string, args: toJson(args ?? {}) } };
}

function parseSchema(schema: unknown): Json | undefined {
  const parsed = typeof schema === 'string' ? parseContainer(schema) : schema;
  return isFields(parsed) ? toJson(parsed) : undefined;
}

/** Finds the text of a question in the metadata that LangGraph (`raw`) and Mastra (`suspendPayload`) add to an interrupt. */
function findText(metadata: Fields): string | undefined {
  for (const vendor of Object.values(metadata).map(asFields)) {
    const text = toText(vendor.raw ?? vendor.suspendPayload);
    if (text !== undefined) return text;
  }
  return undefined;
}

const textFields = ['message', 'question', 'prompt', 'text', 'description', 'title'];

/** Returns the text of a value that an agent interrupts with: the value, its first field with a text, or its JSON. */
function toText(value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return asNonEmptyText(value);
  for (const field of textFields) {
    const text = asNonEmptyText(asFields(value)[field]);
    if (text !== undefined) return text;
  }
  return JSON.stringify(toJson(value));
}

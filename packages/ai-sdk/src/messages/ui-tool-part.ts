import type { Fault, Json, JsonObject, Meta, OnLoss } from '@intertie/core';
import { toJson } from '@intertie/core';
import { equalJson, mergeMeta, type ToolPart } from '@intertie/core/internal';
import type { AskedQuestion } from '@intertie/core/store';
import { parseDescriptorAnswer, parseQuestion, isApproved } from '../shared/ai-sdk-approval.ts';
import { parseIdentity, toIdentity, metadataKey, splitMetadata, withIntertie } from '../shared/intertie-metadata.ts';
import {
  defined,
  asFields,
  asBoolean,
  isFields,
  asJsonObject,
  parseMetadata,
  asNonEmptyText,
  asText,
  type Fields,
} from '../shared/read-fields.ts';
import type { UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';
import { defaultDenialText, toDenialId } from '../ui-message-stream/chunk/ui-question-id.ts';

/** A tool part of a UI message: static (`tool-weather`) or dynamic, in one of seven states. */
export type UIToolPart = { type: string; toolCallId: string; state: string } & JsonObject;

/** Fields stored in our metadata of the call, under their canonical name, if the UI part cannot carry them. */
const carriedFields = [
  'executor',
  'dynamic',
  'title',
  'inputEncoding',
  'toolMetadata',
  'args',
  'argsText',
  'preliminary',
  'invalid',
  'error',
  'approval',
  'resultContent',
  'resultMetadata',
] as const satisfies ReadonlyArray<keyof ToolPart>;

/** Encodes a call as the tool part that `useChat` of this version has after reading its stream. */
export function encodeUIToolPart(part: ToolPart, version: UIMessageVersion): UIToolPart {
  const ui = encodeState(part, version);
  const plain = decodeUIToolPart(ui, () => undefined);
  const missing: JsonObject = {};
  for (const key of carriedFields) {
    const value = part[key];
    if (value !== undefined && !equalJson(value, plain[key] ?? null)) missing[key] = value;
  }
  const metadata = withIntertie(part.providerMetadata, { ...toIdentity(part), ...missing });
  return metadata ? { ...ui, callProviderMetadata: metadata } : ui;
}

function encodeState(part: ToolPart, version: UIMessageVersion): UIToolPart {
  const { toolCallId, toolName, dynamic, title, toolMetadata, executor, args = null } = part;
  const metadata = toolMetadata === undefined ? undefined : asJsonObject(toolMetadata);
  const head = {
    ...(dynamic === true ? { type: 'dynamic-tool', toolName } : { type: `tool-${toolName}` }),
    toolCallId,
    ...defined({ title }),
    ...(metadata && { toolMetadata: metadata }),
    ...(executor === 'provider' && { providerExecuted: true }),
  };
  const approval = part.approval && encodeApproval(part.approval, version);
  const granted: JsonObject = approval?.approved === true ? { approval } : {};
  const result = encodeResultMetadata(part);
  switch (part.state) {
    case 'partial-call': {
      const { argsText, inputEncoding } = part;
      return { ...head, state: 'input-streaming', ...defined({ rawInput: argsText || undefined, inputEncoding }) };
    }
    case 'call':
      if (part.preliminary) {
        const output = { output: part.result ?? null, preliminary: true };
        return { ...head, state: 'output-available', input: args, ...output, ...result, ...granted };
      }
      if (approval === undefined) return { ...head, state: 'input-available', input: args };
      return approval.approved === undefined
        ? { ...head, state: 'approval-requested', input: args, approval }
        : { ...head, state: 'approval-responded', input: args, approval };
    case 'result':
      return { ...head, state: 'output-available', input: args, output: part.result ?? null, ...result, ...granted };
    case 'error': {
      const errorText = part.error?.message ?? 'The tool failed.';
      // `ai` 6 has the input of an invalid call in `rawInput`, unless the tool is dynamic.
      const input: JsonObject =
        version === 6 && part.invalid && dynamic !== true ? { rawInput: args } : { input: args };
      return { ...head, state: 'output-error', ...input, errorText, ...result, ...granted };
    }
    case 'denied': {
      const reason = part.error?.message;
      const isRefused = approval?.approved === false;
      if (!isRefused && version === 6) {
        // The stream of 6 has no chunk for a denial without a request, so its clients have an error here.
        const resultProviderMetadata = withIntertie(part.resultMetadata, { denied: defined({ reason }) })!;
        return {
          ...head,
          state: 'output-error',
          input: args,
          errorText: reason ?? defaultDenialText,
          resultProviderMetadata,
          ...granted,
        };
      }
      const denied = isRefused ? approval : { id: toDenialId(toolCallId), approved: false };
      return { ...head, state: 'output-denied', input: args, approval: { ...denied, ...defined({ reason }) } };
    }
  }
}

/** Adds to the result's metadata whether the output consists of parts, and error fields besides the message. */
function encodeResultMetadata({ resultMetadata, resultContent, state, error }: ToolPart): {
  resultProviderMetadata?: Meta;
} {
  const { message: _, ...fault } = error ?? { message: '' };
  const intertie: JsonObject = {};
  if (resultContent) intertie.content = true;
  if (state === 'error' && Object.keys(fault).length > 0) intertie.error = fault;
  const metadata = withIntertie(resultMetadata, intertie);
  return metadata ? { resultProviderMetadata: metadata } : {};
}

/** Encodes an approval. The descriptor carries fields that the version lacks, such as reason and `automatic` in 6. */
function encodeApproval(question: AskedQuestion, version: UIMessageVersion): JsonObject {
  const { questionId: id, toolCallId: _, kind, reason, automatic, providerMetadata, answer, ...details } = question;
  const { 'ai-sdk': own = {}, ...others } = providerMetadata ?? {};
  const { signature, inputSchemaInput, approvalDescriptor, ...rest } = own;
  const meta: Meta = { ...others, ...(Object.keys(rest).length > 0 && { 'ai-sdk': rest }) };
  const unsupported: JsonObject = {
    ...details,
    ...(kind !== 'approval' && { kind }),
    ...(version === 6 && defined({ reason, automatic })),
    ...(Object.keys(meta).length > 0 && { providerMetadata: meta }),
  };
  const descriptor =
    approvalDescriptor ?? (Object.keys(unsupported).length > 0 ? { [metadataKey]: unsupported } : undefined);
  return defined({
    id,
    descriptor,
    signature,
    inputSchemaInput,
    ...(version === 7 && { requestReason: reason, isAutomatic: automatic }),
    approved: isApproved(question),
    reason: answer?.reason,
  });
}

const states: ReadonlyMap<unknown, ToolPart['state']> = new Map<string, ToolPart['state']>([
  ['input-streaming', 'partial-call'],
  ['input-available', 'call'],
  ['approval-requested', 'call'],
  ['approval-responded', 'call'],
  ['output-available', 'result'],
  ['output-error', 'error'],
  ['output-denied', 'denied'],
]);

/** Decodes a tool part, which a client may have sent. Never throws. Without a valid state it is a partial call. */
export function decodeUIToolPart(ui: Fields, onLoss: OnLoss): ToolPart {
  const { intertie, meta } = splitMetadata(parseMetadata(ui.callProviderMetadata, onLoss));
  const type = asText(ui.type) ?? '';
  const isDynamic = type === 'dynamic-tool';
  const result = splitMetadata(parseMetadata(ui.resultProviderMetadata, onLoss));
  const shown = states.get(ui.state) ?? 'partial-call';
  const state = shown === 'error' && isFields(result.intertie.denied) ? 'denied' : shown;
  const toolCallId = asNonEmptyText(ui.toolCallId) ?? '';
  const preliminary = state === 'result' && ui.preliminary === true;
  const part: ToolPart = {
    type: 'tool-invocation',
    toolCallId,
    toolName: isDynamic ? (asText(ui.toolName) ?? '') : type.slice('tool-'.length),
    state: preliminary ? 'call' : state,
    ...(isDynamic && { dynamic: true }),
    ...(ui.providerExecuted === true && { executor: 'provider' }),
    ...defined({ title: asText(ui.title) }),
    ...(ui.toolMetadata !== undefined && { toolMetadata: toJson(ui.toolMetadata, onLoss) }),
    ...parseIdentity(intertie),
    ...(meta && { providerMetadata: meta }),
  };
  if (state === 'partial-call') {
    const { inputEncoding } = ui;
    part.argsText = asText(ui.rawInput) ?? (ui.input === undefined ? '' : JSON.stringify(toJson(ui.input)));
    if (inputEncoding === 'json' || inputEncoding === 'text') part.inputEncoding = inputEncoding;
  } else part.args = toJson(ui.input ?? ui.rawInput ?? null, onLoss);
  if (state === 'result') part.result = toJson(ui.output ?? null, onLoss);
  if (preliminary) part.preliminary = true;
  if (state === 'error') part.error = { message: asText(ui.errorText) ?? 'The tool failed.' };
  const approval = decodeApproval(ui.approval, toolCallId, onLoss);
  if (approval) part.approval = approval;
  const reason = asText(shown === 'error' ? asFields(result.intertie.denied).reason : asFields(ui.approval).reason);
  if (state === 'denied' && reason !== undefined) part.error = { message: reason };
  if (result.meta) part.resultMetadata = result.meta;
  if (result.intertie.content === true && part.result !== undefined) part.resultContent = true;
  const fault = asFields(result.intertie.error);
  if (part.error && state === 'error') part.error = addFaultFields(part.error, fault);
  return restoreCarriedFields(part, intertie);
}

function addFaultFields(error: Fault, { code, retryable, data }: Fields): Fault {
  return {
    ...error,
    ...defined({
      code: asText(code),
      retryable: asBoolean(retryable),
      data: data === undefined ? undefined : toJson(data),
    }),
  };
}

function decodeApproval(value: unknown, toolCallId: string, onLoss: OnLoss): AskedQuestion | undefined {
  const approval = asFields(value);
  const questionId = asNonEmptyText(approval.id);
  if (questionId === undefined || questionId === toDenialId(toolCallId)) return undefined;
  const json = (field: unknown): Json | undefined => (field === undefined ? undefined : toJson(field, onLoss));
  const { [metadataKey]: own, ...descriptor } = asFields(approval.descriptor);
  const carried = asFields(own);
  const proof: JsonObject = defined({
    signature: asText(approval.signature),
    inputSchemaInput: json(approval.inputSchemaInput),
    approvalDescriptor: Object.keys(descriptor).length > 0 ? json(descriptor) : undefined,
  });
  const providerMetadata = mergeMeta(
    parseMetadata(carried.providerMetadata, onLoss),
    Object.keys(proof).length > 0 ? { 'ai-sdk': proof } : undefined,
  );
  const approved = asBoolean(approval.approved);
  const reason = asText(approval.reason);
  return {
    questionId,
    kind: carried.kind === 'input' ? 'input' : 'approval',
    toolCallId,
    ...defined({
      reason: asText(approval.requestReason) ?? asText(carried.reason),
      message: asText(carried.message),
      schema: json(carried.schema),
      expiresAt: asText(carried.expiresAt),
      providerMetadata,
    }),
    ...((approval.isAutomatic === true || carried.automatic === true) && { automatic: true }),
    ...defined({
      answer:
        approved === undefined
          ? parseDescriptorAnswer(approval.descriptor, questionId)
          : { questionId, approved, ...(reason !== undefined && { reason }) },
    }),
  };
}

/** Restores fields from our metadata. The part's own answer and outcome take precedence: the client may have added them. */
function restoreCarriedFields(part: ToolPart, intertie: JsonObject): ToolPart {
  const { executor, dynamic, title, inputEncoding, toolMetadata, args, argsText } = intertie;
  if (executor === 'runtime' || executor === 'client') part.executor = executor;
  if (dynamic === false) part.dynamic = dynamic;
  if (typeof title === 'string') part.title = title;
  if (inputEncoding === 'json' || inputEncoding === 'text') part.inputEncoding = inputEncoding;
  if (toolMetadata !== undefined) part.toolMetadata = toolMetadata;
  if (args !== undefined && part.state !== 'partial-call') part.args = args;
  if (typeof argsText === 'string' && part.state === 'partial-call') part.argsText = argsText;
  if (intertie.invalid === true) part.invalid = true;
  if (intertie.resultContent === true && part.result !== undefined) part.resultContent = true;
  const error = asFields(intertie.error);
  if (typeof error.message === 'string' && (part.error === undefined || part.error.message === error.message)) {
    part.error = intertie.error as unknown as NonNullable<ToolPart['error']>;
  }
  const resultMetadata = parseMetadata(intertie.resultMetadata, () => undefined);
  if (resultMetadata) part.resultMetadata = resultMetadata;
  const asked = parseQuestion(intertie.approval);
  if (asked) part.approval = mergeAnswer(asked, part.approval);
  return part;
}

function mergeAnswer(stored: AskedQuestion, shown: AskedQuestion | undefined): AskedQuestion {
  const answer = shown?.questionId === stored.questionId ? shown.answer : undefined;
  return answer === undefined || answer.approved === isApproved(stored) ? stored : { ...stored, answer };
}

import { applyAnswer, toFault, toJson, type Fault, type MessageContent, type RunControl } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { asSchema, type ModelMessage, type ToolSet } from 'ai';
import { isFields } from '../shared/read-fields.ts';
import { isAsyncIterable } from './guard-tools.ts';
import type { UnfinishedCalls } from './resume-plan.ts';

/** Result of a call as `streamText` would report it. */
type ResultPart = { type: 'tool-result' | 'tool-error'; toolCallId: string; toolName: string } & (
  | { output: unknown }
  | { error: unknown }
);

export type ToolRerun = {
  tools: ToolSet;
  control: RunControl;
  stop: AbortSignal;
  /** Settings of `streamText` that tools receive. */
  settings: { [name: string]: unknown };
  /** Creates the messages that the model had received before it made the call. */
  getMessages: (call: ToolPart) => ModelMessage[];
};

const interrupted: Fault = {
  message:
    'The process that ran the tool stopped before the result was stored. Whether the tool had an effect is not known. ' +
    'Check before calling it again.',
  code: 'interrupted',
};
const refused: Fault = {
  message: 'The tool was not run: the process stopped before the call was approved.',
  code: 'interrupted',
};
/** History repair leaves out provider calls with this code, because the provider accepts no result for them. */
const unsettled: Fault = { message: 'The provider did not report the result.', code: 'unsettled' };

/**
 * Yields a result for every call that a dead process left without one. A tool with `metadata: { idempotent: true }` runs again, in
 * parallel with others, unless it may lack an approval. Any other may have had its effect, so its call is reported as interrupted.
 */
export async function* settleCalls(calls: UnfinishedCalls, rerun: ToolRerun): AsyncGenerator<ResultPart> {
  for (const call of calls.provider) yield toError(call, unsettled);
  for (const call of calls.refused) yield toError(call, call.error ?? refused);
  const running = new Map<string, Promise<ResultPart>>();
  for (const call of calls.started) {
    const tool = Object.hasOwn(rerun.tools, call.toolName) ? rerun.tools[call.toolName] : undefined;
    if (!call.approval && tool?.needsApproval === true) yield toError(call, refused);
    else if (tool?.execute && isIdempotent(tool) && (call.approval || !mayNeedApproval(tool, rerun))) {
      running.set(call.toolCallId, runAgain(call, tool, rerun));
    } else yield toError(call, interrupted);
  }
  while (running.size > 0) {
    const result = await Promise.race(running.values());
    running.delete(result.toolCallId);
    yield result;
  }
}

/** Adds a result to the message. */
export function applyResult(content: MessageContent, result: ResultPart): MessageContent {
  const { toolCallId } = result;
  return 'error' in result
    ? applyAnswer(content, { toolCallId, status: 'error', error: toFault(result.error) })
    : applyAnswer(content, { toolCallId, status: 'ok', output: toJson(result.output ?? null) });
}

function toError({ toolCallId, toolName }: ToolPart, error: unknown): ResultPart {
  return { type: 'tool-error', toolCallId, toolName, error };
}

function isIdempotent({ metadata }: ToolSet[string]): boolean {
  return metadata?.idempotent === true;
}

/** Whether a call without a logged approval may have been about to ask for one: the call is committed before the question. */
function mayNeedApproval({ needsApproval = false }: ToolSet[string], { settings }: ToolRerun): boolean {
  return needsApproval !== false || settings.toolApproval !== undefined;
}

async function runAgain(call: ToolPart, tool: ToolSet[string], rerun: ToolRerun): Promise<ResultPart> {
  const { toolCallId, toolName, args } = call;
  // The log has the input after the schema has transformed it. If the schema does not accept that, the original is lost.
  const input = await parseInput(tool, args);
  if (!input) return toError(call, interrupted);
  try {
    await rerun.control.barrier(toolCallId);
    const output = await execute(call, tool, input.value, rerun);
    return { type: 'tool-result', toolCallId, toolName, output };
  } catch (error) {
    return toError(call, error);
  }
}

async function parseInput(tool: ToolSet[string], args: unknown): Promise<{ value: unknown } | undefined> {
  const { validate } = asSchema(tool.inputSchema);
  if (!validate) return { value: args };
  const parsed = await validate(args);
  return parsed.success ? { value: parsed.value } : undefined;
}

/** Runs a tool with the options that `streamText` of `ai` 6 or 7 passes, and returns its last output. */
async function execute(call: ToolPart, tool: ToolSet[string], input: unknown, rerun: ToolRerun): Promise<unknown> {
  const { settings, stop: abortSignal, getMessages } = rerun;
  const { experimental_context, experimental_sandbox, toolsContext } = settings;
  // The provider's id: a tool may use it as an idempotency key.
  const wireId = call.providerMetadata?.['ai-sdk']?.toolCallId;
  const options = {
    toolCallId: typeof wireId === 'string' ? wireId : call.toolCallId,
    messages: getMessages(call),
    abortSignal,
    experimental_context,
    experimental_sandbox,
    context: isFields(toolsContext) ? toolsContext[call.toolName] : undefined,
  };
  const output: unknown = tool.execute!(input as never, options);
  if (!isAsyncIterable(output)) return await output;
  let last: unknown;
  for await (const item of output) last = item;
  return last;
}

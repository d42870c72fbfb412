import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import { checkMessageCounts, checkRequestId, readJsonBody, type RequestLimits } from '@intertie/core/http';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { asFields, isFields } from '../shared/read-fields.ts';

/** Error that the request caused, answered with its status before any stream starts. */
export class RequestError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Reads and checks the body of a request. Throws `RequestBodyError` or `RequestError`. */
export async function readRunAgentInput(request: Request, limits?: Partial<RequestLimits>): Promise<AGUIRunInput> {
  const input = checkShape(upgrade(await readJsonBody(request, { limits }), limits));
  checkRequestId('threadId', input.threadId);
  checkRequestId('runId', input.runId);
  return input;
}

/** Whether TanStack AI has sent the request: it repeats the run id in a header of its own. */
export function isTanStack({ headers }: Request, { runId }: AGUIRunInput): boolean {
  return headers.get('x-run-id') === runId;
}

/** Lists whose entries are checked separately; see `checkShape`. */
const lists = ['messages', 'tools', 'context', 'resume'] as const;
type List = (typeof lists)[number];

const entrySchemas = Object.fromEntries(lists.map((list) => [list, getEntrySchema(RunAgentInputSchema.shape[list])]));

/**
 * Stops at the first invalid entry. Parsing the complete body would report all of them, at several microseconds and hundreds
 * of bytes each: 2 MB of `{}` took 3.7 s.
 */
function checkShape(body: unknown): AGUIRunInput {
  const checked: Partial<Record<List, unknown[]>> = {};
  for (const list of lists) {
    const entries = isFields(body) ? body[list] : undefined;
    if (!Array.isArray(entries)) continue;
    checked[list] = entries.map((entry: unknown, index) => parse(entrySchemas[list]!, entry, [list, index]));
  }
  const empty = Object.fromEntries(Object.keys(checked).map((list) => [list, []]));
  const input = parse(RunAgentInputSchema, isFields(body) ? { ...body, ...empty } : body, []);
  return { ...(input as object), ...checked } as AGUIRunInput;
}

type Schema = {
  safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: { issues: readonly Issue[] } };
};
type Issue = { message: string; path: readonly PropertyKey[] };

function parse(schema: Schema, value: unknown, prefix: readonly PropertyKey[]): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const path = [...prefix, ...(first?.path ?? [])].map(String).join('.');
  const message = `The body is not a RunAgentInput: ${path === '' ? '' : `${path}: `}${first?.message ?? ''}`;
  throw new RequestError(message, 422);
}

/** Returns the schema of a list's entries. Optional lists and lists with a default are wrapped. */
function getEntrySchema(schema: object): Schema {
  if ('element' in schema) return schema.element as Schema;
  return getEntrySchema((schema as { unwrap(): object }).unwrap());
}

/** Converts input of clients before 1.0 that the schema rejects: `null` for absent fields, and `binary` parts for files. */
function upgrade(body: unknown, limits: Partial<RequestLimits> | undefined): unknown {
  if (!isFields(body)) return body;
  if (Array.isArray(body.messages)) checkMessageCounts(body.messages, countParts, limits);
  const upgraded: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(body)) if (value !== null) upgraded[key] = value;
  if (Array.isArray(body.messages)) upgraded.messages = body.messages.map(upgradeMessage);
  return upgraded;
}

function countParts(message: unknown): number {
  const { content, toolCalls } = asFields(message);
  return (Array.isArray(content) ? content.length : 1) + (Array.isArray(toolCalls) ? toolCalls.length : 0);
}

function upgradeMessage(message: unknown): unknown {
  if (!isFields(message) || !Array.isArray(message.content)) return message;
  return { ...message, content: message.content.map(upgradePart) };
}

function upgradePart(part: unknown): unknown {
  if (!isFields(part) || part.type !== 'binary') return part;
  const { mimeType, data, url, id, filename } = part;
  const [kind] = typeof mimeType === 'string' ? mimeType.split('/') : [];
  const type = kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
  const value = data ?? url ?? id;
  const source = { type: data === undefined ? (url === undefined ? 'file' : 'url') : 'data', value, mimeType };
  return { type, source, ...(typeof filename === 'string' && { metadata: { intertie: { filename } } }) };
}

import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import type { AGUIRunInput } from './ag-ui-event.ts';
import { isFields } from './read-fields.ts';

/** Why a request is refused, before any stream begins. */
export class RequestProblem extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** A request's body, checked. What is wrong with it is thrown as a `RequestProblem`. */
export async function readRunAgentInput(request: Request, maxSize: number): Promise<AGUIRunInput> {
  return readInput(await readText(request, maxSize));
}

function readInput(text: string): AGUIRunInput {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new RequestProblem(`The body is no JSON: ${error instanceof Error ? error.message : String(error)}`, 400);
  }
  const parsed = RunAgentInputSchema.safeParse(upgrade(body));
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const place = first?.path.join('.') ?? '';
  throw new RequestProblem(
    `The body is no RunAgentInput: ${place === '' ? '' : `${place}: `}${first?.message ?? ''}`,
    422,
  );
}

/** What clients before 1.0 send and its schema refuses: `null` for what is absent, and one kind of part for all files. */
function upgrade(body: unknown): unknown {
  if (!isFields(body)) return body;
  const upgraded: { [key: string]: unknown } = {};
  for (const [key, value] of Object.entries(body)) if (value !== null) upgraded[key] = value;
  if (Array.isArray(body.messages)) upgraded.messages = body.messages.map(upgradeMessage);
  return upgraded;
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

/** Read piece by piece: what is too long is not held. */
async function readText(request: Request, maxSize: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = request.body?.getReader();
  let size = 0;
  let text = '';
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const result = await reader?.read();
    if (result === undefined || result.done) return text + decoder.decode();
    size += result.value.byteLength;
    if (size > maxSize) {
      reader?.cancel().catch(() => undefined);
      throw new RequestProblem(`The body is longer than ${maxSize} bytes.`, 413);
    }
    text += decoder.decode(result.value, { stream: true });
  }
}

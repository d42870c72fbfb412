import { ChatRequestError } from './chat-request.ts';
import { parseWireJson } from './parse-wire-json.ts';

/** How long a request may be, in bytes, where nobody says so: files travel inside. */
export const defaultMaxBodySize = 32_000_000;

/** The JSON of a request, read piece by piece: what is too long is not held. */
export async function readChatBody(request: Request, maxSize: number): Promise<unknown> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  const reader = request.body?.getReader();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one piece after the other
    const result = await reader?.read();
    if (result === undefined || result.done) break;
    size += result.value.byteLength;
    if (size > maxSize) {
      reader?.cancel().catch(() => undefined);
      throw new ChatRequestError(`The body is longer than ${maxSize} bytes.`, 413);
    }
    text += decoder.decode(result.value, { stream: true });
  }
  try {
    return parseWireJson(text + decoder.decode());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ChatRequestError(`The body is no JSON: ${why}`);
  }
}

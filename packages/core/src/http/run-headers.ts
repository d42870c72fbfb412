const runHeader = 'x-intertie-run';
const messageHeader = 'x-intertie-message';

/**
 * Creates the headers that name the run and the message of a response. Clients choose ids of any characters, but headers carry
 * only visible ASCII, so other characters and the percent sign are percent-encoded.
 */
export function toRunHeaders({ runId, messageId }: { runId?: string; messageId?: string }): Record<string, string> {
  return {
    ...(runId !== undefined && { [runHeader]: encodeId(runId) }),
    ...(messageId !== undefined && { [messageHeader]: encodeId(messageId) }),
  };
}

/** Reads the headers of `toRunHeaders` from a response. Also accepts unencoded ids of other servers. */
export function readRunHeaders({ headers }: Pick<Response, 'headers'>): { runId?: string; messageId?: string } {
  const runId = headers.get(runHeader);
  const messageId = headers.get(messageHeader);
  return {
    ...(runId !== null && { runId: decodeId(runId) }),
    ...(messageId !== null && { messageId: decodeId(messageId) }),
  };
}

/** Characters other than visible ASCII, and the percent sign. Matches runs of them, so that no surrogate pair is split. */
const unsafe = /[^\x21-\x24\x26-\x7e]+/g;

function encodeId(id: string): string {
  return id.replace(unsafe, (text) => encodeURIComponent(text));
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

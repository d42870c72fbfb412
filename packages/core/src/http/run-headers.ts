const runHeader = 'x-intertie-run';
const messageHeader = 'x-intertie-message';

/**
 * Names the run of a response, and the message that it writes. Clients choose ids of any characters, and a header carries
 * visible ASCII: other characters, and the percent sign, are percent-encoded.
 */
export function toRunHeaders({ runId, messageId }: { runId?: string; messageId?: string }): Record<string, string> {
  return {
    ...(runId !== undefined && { [runHeader]: encodeId(runId) }),
    ...(messageId !== undefined && { [messageHeader]: encodeId(messageId) }),
  };
}

/** Reads `toRunHeaders` of a response. Ids without percent signs are as other servers write them. */
export function readRunHeaders({ headers }: Pick<Response, 'headers'>): { runId?: string; messageId?: string } {
  const runId = headers.get(runHeader);
  const messageId = headers.get(messageHeader);
  return {
    ...(runId !== null && { runId: decodeId(runId) }),
    ...(messageId !== null && { messageId: decodeId(messageId) }),
  };
}

/** Other than visible ASCII without the percent sign. Whole runs of characters, so that no surrogate pair is split. */
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

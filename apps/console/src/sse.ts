/** One event of an event stream. */
export type SSEEvent = { id: string; event: string; data: string };

/**
 * Reads an event stream piece by piece, and gives the events of each piece together: one promise for many. An event that was cut
 * off is dropped, as the standard has it.
 */
export async function* readSSE(body: ReadableStream<Uint8Array>): AsyncGenerator<SSEEvent[]> {
  const parser = createSSEParser();
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one piece after the other
      const { done, value } = await reader.read();
      if (done) return;
      const events = parser(value);
      if (events.length > 0) yield events;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** A parser that is given text as it comes and gives the events that are complete. */
export function createSSEParser(): (text: string) => SSEEvent[] {
  let rest = '';
  let id = '';
  let event = '';
  let data: string[] = [];

  const take = (line: string, events: SSEEvent[]): void => {
    if (line === '') {
      if (data.length > 0) events.push({ id, event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
    else if (field === 'id') id = value;
  };

  return (text) => {
    const events: SSEEvent[] = [];
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) take(line.endsWith('\r') ? line.slice(0, -1) : line, events);
    return events;
  };
}

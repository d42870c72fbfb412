/** One server-sent event. */
export type SSEEvent = { id: string; event: string; data: string };

/**
 * Reads server-sent events and yields the events of each chunk together, which costs one promise per chunk. Drops an incomplete
 * last event, as the standard requires.
 */
export async function* readSSE(body: ReadableStream<Uint8Array>): AsyncGenerator<SSEEvent[]> {
  const parse = createSSEParser();
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = parse(value);
      if (events.length > 0) yield events;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Creates a parser that accepts text in chunks and returns the completed events. */
export function createSSEParser(): (text: string) => SSEEvent[] {
  let rest = '';
  let id = '';
  let event = '';
  let data: string[] = [];

  const parseLine = (line: string, events: SSEEvent[]): void => {
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
    for (const line of lines) parseLine(line.endsWith('\r') ? line.slice(0, -1) : line, events);
    return events;
  };
}

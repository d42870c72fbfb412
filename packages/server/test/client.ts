import { createParser } from 'eventsource-parser';

/** Body that a bare `useChat` posts for a new message. */
export function chatBody(thread: string, text: string, id: string = crypto.randomUUID()): string {
  const messages = [{ id, role: 'user', parts: [{ type: 'text', text }] }];
  return JSON.stringify({ id: thread, trigger: 'submit-message', messages });
}

export function postJson(url: string, body: unknown, headers: { [name: string]: string } = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: text });
}

/** Sends a message and reads the answer to its end. */
export async function sendMessage(
  base: string,
  { agent = 'helper', thread, text }: { agent?: string; thread: string; text: string },
): Promise<{ runId: string; messageId: string; body: string }> {
  const response = await postJson(`${base}/api/agents/${agent}/chat`, chatBody(thread, text));
  const body = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${body}`);
  return {
    runId: response.headers.get('x-intertie-run')!,
    messageId: response.headers.get('x-intertie-message')!,
    body,
  };
}

export type Received = { id: string | undefined; event: string | undefined; data: unknown };

/** Reads the events of a response. Returning early closes the connection. */
export async function* readEvents(response: Response): AsyncGenerator<Received> {
  const received: Received[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => received.push({ id, event, data: JSON.parse(data) as unknown }),
  });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* received.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Reads events until `isEnough`. */
export async function collectEvents(
  response: Response,
  isEnough: (events: readonly Received[]) => boolean,
): Promise<Received[]> {
  const all: Received[] = [];
  for await (const event of readEvents(response)) {
    all.push(event);
    if (isEnough(all)) break;
  }
  return all;
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type ChatMessage = { role: string; content?: unknown; tool_calls?: Array<{ id: string }>; tool_call_id?: string };
export type ModelRequest = { messages: ChatMessage[] };
export type ModelServer = { url: string; requests: ModelRequest[]; close(): Promise<void> };

/**
 * Starts a server with the API of OpenAI's chat completions, so that every runtime uses its own provider package. The first word
 * of the user's last message names the tool that the model calls; after the result, the model repeats it.
 */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  let calls = 0;
  const server = createServer((request, response) => {
    readBody(request)
      .then((body) => {
        requests.push(body);
        calls += 1;
        return answer(body, `call_${calls}`, response);
      })
      .catch((error: unknown) => response.destroy(error as Error));
  });
  await listen(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()));

async function readBody(request: IncomingMessage): Promise<ModelRequest> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return JSON.parse(text) as ModelRequest;
}

async function answer({ messages }: ModelRequest, callId: string, response: ServerResponse): Promise<void> {
  const last = messages.at(-1)!;
  const asked = getText(messages.findLast(({ role }) => role === 'user')?.content);
  const [word = ''] = asked.trim().split(/\s/);
  if (word === 'fail') {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'The model failed.', type: 'invalid_request_error' } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, reason: string | null = null): void => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    const chunk = {
      id: `chatcmpl-${callId}`,
      object: 'chat.completion.chunk',
      created: 1,
      model: 'gpt-4.1-mini',
      choices,
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  send({ role: 'assistant', content: '' });
  if (last.role === 'tool' || last.tool_call_id !== undefined) send({ content: `It says ${getText(last.content)}.` });
  else if (['weather', 'locate', 'remove'].includes(word)) {
    const call = { index: 0, id: callId, type: 'function' };
    send({ tool_calls: [{ ...call, function: { name: word, arguments: '' } }] });
    for (const text of word === 'locate' ? ['{', '}'] : ['{"ci', 'ty": "Paris"}']) {
      send({ tool_calls: [{ index: 0, function: { arguments: text } }] });
    }
    send({}, 'tool_calls');
  } else {
    send({ content: 'Hel' });
    // The run ends when its client stops it.
    if (word === 'slow') return;
    send({ content: 'lo.' });
  }
  send({}, last.role !== 'tool' && ['weather', 'locate', 'remove'].includes(word) ? null : 'stop');
  response.end('data: [DONE]\n\n');
}

function getText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part) => (part as { text?: string }).text ?? '').join('') : '';
}

import { Readable } from 'node:stream';
import type { Connect, UserConfig } from 'vite';
import { createRoute } from './chat-route.ts';

/** Converts Node's request and response to web standards. A framework does this for you. */
async function chatMiddleware(): Promise<Connect.NextHandleFunction> {
  const handle = await createRoute();
  return (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.on('close', () => left.abort());
    const { method = 'GET', originalUrl = '/', headers } = incoming;
    const request = new Request(`http://localhost${originalUrl}`, {
      method,
      headers: headers as Record<string, string>,
      signal: left.signal,
      ...(method === 'POST' && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
    });
    void handle(request).then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body === null) return outgoing.end();
      return Readable.fromWeb(response.body as never).pipe(outgoing);
    });
  };
}

const config: UserConfig = {
  server: { host: '127.0.0.1' },
  plugins: [
    {
      name: 'chat',
      async configureServer(server) {
        server.middlewares.use('/api/chat', await chatMiddleware());
      },
    },
  ],
};

export default config;

// @ts-check
// node resumable.mjs <redis url>: the plain route with resumable streams, as in the AI SDK's documentation.
import { convertToModelMessages, generateId, streamText } from 'ai';
import { createClient } from 'redis';
import { createResumableStreamContext } from 'resumable-stream';

import { requestedModel } from '../requested-model.mjs';
import { runServer, listen, plainRoute } from '../run-server.mjs';

const [url = ''] = process.argv.slice(2);
const publisher = createClient({ url });
const subscriber = createClient({ url });
for (const client of [publisher, subscriber]) client.on('error', () => undefined);
await Promise.all([publisher.connect(), subscriber.connect()]);
const context = createResumableStreamContext({ waitUntil: null, publisher, subscriber });

const route = plainRoute(async ({ messages }) =>
  // No signal: a resumable stream continues without its first reader.
  streamText({ model: requestedModel, messages: await convertToModelMessages(messages) }).toUIMessageStreamResponse({
    generateMessageId: generateId,
    async consumeSseStream({ stream }) {
      await context.createNewResumableStream(generateId(), () => stream);
    },
  }),
);

runServer(await listen(route));

// @ts-check
import { convertToModelMessages, streamText } from 'ai';

import { requestedModel } from '../requested-model.mjs';
import { runServer, listen, plainRoute } from '../run-server.mjs';

const route = plainRoute(async ({ messages }, abortSignal) =>
  streamText({
    model: requestedModel,
    messages: await convertToModelMessages(messages),
    abortSignal,
  }).toUIMessageStreamResponse(),
);

runServer(await listen(route));

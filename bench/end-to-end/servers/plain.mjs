// @ts-check
import { convertToModelMessages, streamText } from 'ai';

import { askedModel } from '../asked-model.mjs';
import { beServer, listen, plainRoute } from '../be-server.mjs';

const route = plainRoute(async ({ messages }, abortSignal) =>
  streamText({
    model: askedModel,
    messages: await convertToModelMessages(messages),
    abortSignal,
  }).toUIMessageStreamResponse(),
);

beServer(await listen(route));

// @ts-check
import { BuiltInAgent, convertMessagesToVercelAISDKMessages, CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';
import { streamText } from 'ai';

import { requestedModel } from '../requested-model.mjs';
import { runServer, listen } from '../run-server.mjs';

const bench = new BuiltInAgent({
  type: 'aisdk',
  factory: ({ input, abortSignal }) =>
    streamText({
      model: requestedModel,
      messages: convertMessagesToVercelAISDKMessages(input.messages),
      abortSignal,
    }),
});
const runtime = new CopilotRuntime({ agents: { bench } });

runServer(await listen(createCopilotNodeListener({ runtime, basePath: '/' })));

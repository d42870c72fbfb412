// @ts-check
import { BuiltInAgent, convertMessagesToVercelAISDKMessages, CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';
import { streamText } from 'ai';

import { askedModel } from '../asked-model.mjs';
import { beServer, listen } from '../be-server.mjs';

const bench = new BuiltInAgent({
  type: 'aisdk',
  factory: ({ input, abortSignal }) =>
    streamText({
      model: askedModel,
      messages: convertMessagesToVercelAISDKMessages(input.messages),
      abortSignal,
    }),
});
const runtime = new CopilotRuntime({ agents: { bench } });

beServer(await listen(createCopilotNodeListener({ runtime, basePath: '/' })));

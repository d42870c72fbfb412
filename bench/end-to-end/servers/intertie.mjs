// @ts-check
// node intertie.mjs <database> <token>: the server with defaults, and with limits that a single client does not reach.
import { model, serve } from 'intertie';

import { askedModel } from '../asked-model.mjs';
import { beServer } from '../be-server.mjs';
import { crowdSource } from '../crowd-source.mjs';
import { createHistory } from '../requests.mjs';

const [database = '', token = ''] = process.argv.slice(2);
const limits = { requestsPerSecond: 1e6, streams: { perClient: 1e5, total: 1e5 } };
const agents = { bench: model(askedModel), crowd: crowdSource };
const served = await serve({ agents, database, token, limits }, { port: 0 });

beServer(served.url, {
  close: () => served.close(),
  answers: {
    /** @param {{ threadId: string, messages: number }} asked */
    async fill({ threadId, messages }) {
      await served.intertie.agents.get('bench')?.importMessages({ threadId, messages: createHistory(messages) });
    },
  },
});

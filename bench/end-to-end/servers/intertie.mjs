// @ts-check
// node intertie.mjs <database> <token> [<maximum of messages>]: the server with defaults, and with limits that a single client does
// not reach.
import { model, serve } from 'intertie';

import { requestedModel } from '../requested-model.mjs';
import { runServer } from '../run-server.mjs';
import { crowdSource } from '../crowd-source.mjs';
import { createHistory } from '../requests.mjs';

const [database = '', token = '', maxMessages] = process.argv.slice(2);
const limits = { requestsPerSecond: 1e6, streams: { perClient: 1e5, total: 1e5 } };
const agents = { bench: model(requestedModel), crowd: crowdSource };
const history = maxMessages === undefined ? {} : { maxMessages: Number(maxMessages) };
const served = await serve({ agents, database, token, limits, history }, { port: 0 });

runServer(served.url, {
  close: () => served.close(),
  answers: {
    /** @param {{ threadId: string, messages: number }} asked */
    async fill({ threadId, messages }) {
      await served.intertie.agents.get('bench')?.importMessages({ threadId, messages: createHistory(messages) });
    },
  },
});

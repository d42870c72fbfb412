// @ts-check
import { seal, sourceStream } from '@intertie/core';

import { wordOf } from './asked-model.mjs';

/** @import { AgentEvent, AgentSource } from '@intertie/core' */

/**
 * Many agents that speak in turns, in one run. How many, and how many words in all, is in the user's message, as JSON.
 * @type {AgentSource}
 */
export const crowdSource = {
  name: 'crowd',
  pauses: 'replay',
  run: (input, { signal }) => {
    const [part] = input.history.at(-1)?.content.parts ?? [];
    const { agents, words } = JSON.parse(part?.type === 'text' ? part.text : '{"agents":1,"words":1}');
    const sealed = seal(input, () => undefined);
    return sourceStream(() => speak(agents, words), sealed, { signal });
  },
};

/**
 * @param {number} agents
 * @param {number} words
 * @returns {AsyncGenerator<AgentEvent>}
 */
async function* speak(agents, words) {
  for (let n = 0; n < agents; n++) {
    yield { type: 'agent-start', agentId: `a${n}`, name: `agent ${n}`, kind: 'agent' };
    yield { type: 'text-start', id: `t${n}`, agentId: `a${n}` };
  }
  for (let n = 0; n < words; n++) yield { type: 'text-delta', id: `t${n % agents}`, delta: wordOf(n) };
  for (let n = 0; n < agents; n++) {
    yield { type: 'text-end', id: `t${n}` };
    yield { type: 'agent-end', agentId: `a${n}`, outcome: 'complete' };
  }
  yield { type: 'run-end', outcome: 'complete' };
}

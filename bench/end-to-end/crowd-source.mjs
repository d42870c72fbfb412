// @ts-check
import { seal, sourceStream } from '@intertie/core';

import { createWord } from './requested-model.mjs';

/** @import { AgentEvent, AgentSource } from '@intertie/core' */

/**
 * Emits words of many agents alternately, in one run. The user's message has both numbers as JSON.
 * @type {AgentSource}
 */
export const crowdSource = {
  name: 'crowd',
  pauses: 'replay',
  run: (input, { signal }) => {
    const [part] = input.history.at(-1)?.content.parts ?? [];
    const { agents, words } = JSON.parse(part?.type === 'text' ? part.text : '{"agents":1,"words":1}');
    const sealed = seal(input, () => undefined);
    return sourceStream(() => generateEvents(agents, words), sealed, { signal });
  },
};

/**
 * @param {number} agents
 * @param {number} words
 * @returns {AsyncGenerator<AgentEvent>}
 */
async function* generateEvents(agents, words) {
  for (let n = 0; n < agents; n++) {
    yield { type: 'agent-start', agentId: `a${n}`, name: `agent ${n}`, kind: 'agent' };
    yield { type: 'text-start', id: `t${n}`, agentId: `a${n}` };
  }
  for (let n = 0; n < words; n++) yield { type: 'text-delta', id: `t${n % agents}`, delta: createWord(n) };
  for (let n = 0; n < agents; n++) {
    yield { type: 'text-end', id: `t${n}` };
    yield { type: 'agent-end', agentId: `a${n}`, outcome: 'complete' };
  }
  yield { type: 'run-end', outcome: 'complete' };
}

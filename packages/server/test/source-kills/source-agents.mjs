// @ts-check
import { agUiSource } from '@intertie/ag-ui';
import { Agent } from '@intertie/agent';
import { tapeSource } from '@intertie/core';
import { mailSource } from '@intertie/mail';
import { openHarnessServerSource } from '@intertie/open-harness';

/** @typedef {{ mail: string, openHarness: string, agUi: string }} Peers URLs of the runtimes, which are not killed. */

/**
 * Text, reasoning, tools, an agent, state and data, with a part open at almost every point.
 * @type {import('@intertie/core').AgentEvent[]}
 */
const script = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 0 },
  { type: 'state-snapshot', state: { count: 0 } },
  { type: 'step-start', stepId: 's' },
  { type: 'reasoning-start', id: 'think', stepId: 's' },
  ...toDeltas('reasoning-delta', 'think', 'The user wants a poem about the sea, so I look at the sea first.'),
  { type: 'reasoning-end', id: 'think' },
  { type: 'tool-input-start', toolCallId: 'look', toolName: 'look', executor: 'runtime', stepId: 's' },
  { type: 'tool-input-delta', toolCallId: 'look', delta: '{"at":' },
  { type: 'tool-input-delta', toolCallId: 'look', delta: '"sea"}' },
  { type: 'tool-call', toolCallId: 'look', toolName: 'look', executor: 'runtime', input: { at: 'sea' }, stepId: 's' },
  { type: 'state-delta', patch: [{ op: 'replace', path: '/count', value: 1 }] },
  { type: 'tool-result', toolCallId: 'look', status: 'ok', output: { waves: 3 } },
  { type: 'step-end', stepId: 's', finishReason: 'tool-calls' },
  { type: 'agent-start', agentId: 'poet', name: 'poet', kind: 'agent' },
  { type: 'text-start', id: 'poem', agentId: 'poet' },
  ...toDeltas('text-delta', 'poem', 'Three waves came in, and each of them was sure that it would be the last.'),
  { type: 'text-end', id: 'poem' },
  { type: 'agent-end', agentId: 'poet', outcome: 'complete' },
  { type: 'run-end', outcome: 'complete', finishReason: 'stop' },
];

/**
 * @param {'text-delta' | 'reasoning-delta'} type
 * @param {string} id
 * @param {string} text
 * @returns {import('@intertie/core').AgentEvent[]}
 */
function toDeltas(type, id, text) {
  return text.split(/(?<= )/).map((delta) => ({ type, id, delta }));
}

/** Plays the script in about 1.3 s. */
export function scriptSource() {
  const items = script.map((item, index) => ({ t: index * 40, item }));
  return tapeSource({ header: { tape: 1, dialect: 'canonical' }, items });
}

/**
 * Creates the agents whose processes are killed, one per source that can continue a run.
 * @param {import('@intertie/core').Store} store
 * @param {import('@intertie/agent').RunHost} host
 * @param {Peers} peers
 * @returns {{ [name: string]: Agent }}
 */
export function createAgents(store, host, peers) {
  const sources = {
    mail: mailSource({ baseUrl: peers.mail, authToken: 'key' }),
    openHarness: openHarnessServerSource({ baseUrl: peers.openHarness, sessionId: ({ runId }) => runId }),
    agUi: agUiSource({ url: peers.agUi }),
    tape: scriptSource(),
  };
  return Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [name, new Agent({ name, source, store, host })]),
  );
}

/** Runs are killed many times, and their logs are compared at the end. */
export const hostOptions = { maxAttempts: 1_000, logRetentionMs: 3_600_000 };

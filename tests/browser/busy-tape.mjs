// @ts-check
/** @import { AgentEvent, Tape } from '@intertie/core' */

const rate = 200;
const names = ['planner', 'researcher', 'critic', 'writer'];
const words =
  'the *log* says **what** happened `in` order and nothing else so a reader that comes late sees the same run '.split(
    /(?<= )/,
  );

/**
 * Creates a run of four agents that stream at the same time, 200 events per second. Consecutive deltas belong to different parts.
 * Each agent calls a tool at intervals and starts new paragraphs.
 * @param {number} seconds
 * @returns {Tape<unknown>}
 */
export function busyTape(seconds) {
  /** @type {Array<{ t: number; item: AgentEvent }>} */
  const items = [];
  /** @param {AgentEvent} item */
  const add = (item) => items.push({ t: (items.length * 1000) / rate, item });
  const total = seconds * rate;
  add({ type: 'run-start', runId: 'busy', threadId: 'busy', messageId: 'busy' });
  for (const name of names) add({ type: 'agent-start', agentId: name, name, kind: 'agent' });
  for (const name of names) add({ type: 'text-start', id: `${name}-0`, agentId: name });
  for (let count = 0; items.length < total - 3 * names.length; count += 1) {
    const name = names[count % names.length] ?? '';
    const nth = Math.floor(count / names.length);
    const part = Math.floor(nth / 40);
    const delta = words[nth % words.length] ?? '';
    if (nth % 40 === 0 && nth > 0) {
      const call = {
        toolCallId: `${name}-call-${part}`,
        toolName: 'look-up',
        executor: /** @type {const} */ ('runtime'),
      };
      add({ type: 'text-end', id: `${name}-${part - 1}` });
      add({ type: 'tool-call', ...call, agentId: name, input: { about: `part ${part}` } });
      add({ type: 'tool-result', toolCallId: call.toolCallId, status: 'ok', output: { lines: part } });
      add({ type: 'text-start', id: `${name}-${part}`, agentId: name });
    }
    add({ type: 'text-delta', id: `${name}-${part}`, delta: nth % 13 === 12 ? `${delta}\n\n` : delta });
  }
  for (const name of names) {
    const last = items.findLast(({ item }) => item.type === 'text-start' && item.agentId === name);
    if (last?.item.type === 'text-start') add({ type: 'text-end', id: last.item.id });
    add({ type: 'agent-end', agentId: name, outcome: 'complete' });
  }
  add({ type: 'run-end', outcome: 'complete', finishReason: 'stop' });
  return { header: { tape: 1, dialect: 'canonical', title: 'Four at once' }, items };
}

import type { AgentEvent, DemoAgents, DemoHost, Tape } from '@intertie/core';
import { tape } from '../agents/tape.ts';

/** A short run as `intertie record` would write it: two agents, a tool call and an answer. */
function demoTape(): Tape<unknown> {
  const items: Array<{ t: number; item: AgentEvent }> = [];
  let t = 0;
  const add = (item: AgentEvent, ms = 60): void => void items.push({ t: (t += ms), item });
  const addText = (kind: 'text' | 'reasoning', id: string, text: string, agentId: string): void => {
    add({ type: `${kind}-start`, id, agentId });
    for (const delta of text.match(/\S+\s*/g) ?? []) add({ type: `${kind}-delta`, id, delta }, 35);
    add({ type: `${kind}-end`, id });
  };
  add({ type: 'run-start', runId: 'tape', threadId: 'tape', messageId: 'tape' }, 0);
  add({ type: 'agent-start', agentId: 'scout', name: 'scout', kind: 'agent', description: 'Looks things up.' });
  addText('reasoning', 'scout-thinks', 'This was recorded, so I already know how it ends.', 'scout');
  const call = { toolCallId: 'look', toolName: 'look-up', executor: 'runtime' as const };
  add({ type: 'tool-call', ...call, input: { about: 'tapes' }, agentId: 'scout' });
  add({ type: 'tool-result', toolCallId: 'look', status: 'ok', output: { lines: 1, format: 'jsonl' } }, 400);
  add({ type: 'agent-end', agentId: 'scout', outcome: 'complete' });
  add({ type: 'agent-start', agentId: 'writer', name: 'writer', kind: 'agent', description: 'Puts it into words.' });
  addText(
    'text',
    'writer-says',
    'You are watching a **tape**: a run that was recorded once and is played again, event by event and with its own timing, whatever you say to it. Record one of yours with `intertie record`.',
    'writer',
  );
  add({ type: 'agent-end', agentId: 'writer', outcome: 'complete' });
  add({ type: 'run-end', outcome: 'complete', finishReason: 'stop' });
  return { header: { tape: 1, dialect: 'canonical', title: 'Two agents and a tool' }, items };
}

/** Defines an agent that plays the demo tape. */
export async function startTapeDemo({ pace }: DemoHost): Promise<DemoAgents> {
  const recording = tape(demoTape(), {
    speed: pace === 0 ? Infinity : 1 / pace,
    description: 'A recorded run that is played again, whatever you say.',
    suggestions: ['Play it'],
  });
  return { agents: { recording } };
}

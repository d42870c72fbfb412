import { describe, expect, it, vi } from 'vitest';
import { detectSingleAgent } from './detect-single-agent.ts';
import { singleAgentEvent, type MAILFrame } from '../shared/mail-event.ts';
import type { MAILAgentInfo } from './mail-server.ts';

const called = (tool_name: string): MAILFrame => ({
  event: 'tool_call',
  data: JSON.stringify({ extra_data: { tool_name } }),
});
const agent = (name: string): MAILAgentInfo => ({ name, targets: [], isEntrypoint: false, canComplete: true });

async function readEvents(frames: MAILFrame[], answer: () => Promise<{ agents: MAILAgentInfo[] }>) {
  const agents = vi.fn<() => Promise<{ agents: MAILAgentInfo[] }>>(answer);
  const given = (async function* () {
    yield* frames;
  })();
  const events: string[] = [];
  for await (const { event } of detectSingleAgent(given, { readAgents: agents }, new AbortController().signal))
    events.push(event);
  return { events, asked: agents.mock.calls.length };
}

describe('detectSingleAgent', () => {
  const frames = [called('send_request'), called('text_output'), { event: 'ping', data: {} }, called('text_output')];

  it('inserts an event after each text_output in a swarm of one and reads the agents once', async () => {
    const { events, asked } = await readEvents(frames, async () => ({ agents: [agent('solo')] }));
    expect(events).toEqual(['tool_call', 'tool_call', singleAgentEvent, 'ping', 'tool_call', singleAgentEvent]);
    expect(asked).toBe(1);
  });

  it('inserts nothing in a larger swarm and reads no agents without a text_output', async () => {
    const { events } = await readEvents(frames, async () => ({ agents: [agent('a'), agent('b')] }));
    expect(events).not.toContain(singleAgentEvent);
    expect((await readEvents([called('search')], async () => ({ agents: [agent('solo')] }))).asked).toBe(0);
  });

  it('assumes a larger swarm if the agents cannot be read', async () => {
    const { events } = await readEvents(frames, () => Promise.reject(new Error('404')));
    expect(events).not.toContain(singleAgentEvent);
  });
});

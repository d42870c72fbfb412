import { createInMemoryStore } from '@intertie/core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { agentKinds } from '../src/agent-kinds.ts';
import { protocols as knownProtocols } from '../src/protocols.ts';
import { serve } from '../src/serve.ts';
import { bindings } from './a2a-client.ts';
import { a2aProtocol } from './a2a-protocol.ts';
import { agUiProtocol } from './ag-ui-protocol.ts';
import { chatProtocol } from './chat-protocol.ts';
import { eventsProtocol, streamsProtocol } from './log-protocols.ts';
import { startMatrixAgents } from './matrix-agents.ts';
import { openaiProtocol } from './openai-protocol.ts';
import type { Protocol, Reply, Scenario } from './protocol.ts';

const [chat6, chat7] = chatMajors.map(chatProtocol) as [Protocol, Protocol];
const [a2aJsonRpc, a2aRest] = bindings.map(a2aProtocol) as [Protocol, Protocol];
const streams = [streamsProtocol('long-poll'), streamsProtocol('sse')] as const;

/** Clients of the endpoints of each protocol. A protocol with endpoints and without a client fails. */
const clients: { readonly [protocol: string]: readonly Protocol[] } = {
  'ui-message-stream': [chat6, chat7],
  'ag-ui': [agUiProtocol],
  a2a: [a2aJsonRpc, a2aRest],
  'openai-responses': [openaiProtocol],
};
const servedProtocols = knownProtocols.filter(({ endpoints }) => endpoints !== undefined).map(({ name }) => name);

/** Clients of every durable handler: those of the protocols, and those of the run log. */
export const protocols: readonly Protocol[] = [
  ...servedProtocols.flatMap((name) => clients[name] ?? []),
  ...streams,
  eventsProtocol,
];
/** One protocol of each kind. The others read the same bytes or the same log. */
export const someProtocols: readonly Protocol[] = [chat6, agUiProtocol, a2aJsonRpc, openaiProtocol, streams[1]];

/** Message to send, and the reply to a question. */
type Script = { text: string; agent?: string; reply?: Reply };
type Source = { name: string; scripts: { readonly [scenario in Scenario]: Script } };

const model: Source['scripts'] = {
  answer: { text: 'hello' },
  tool: { text: 'What is the weather in Lisbon?' },
  approval: { text: 'Send an email to Ada', reply: { approve: true } },
  error: { text: 'Fail' },
  abort: { text: 'Write a long answer' },
  resume: { text: 'hello' },
};
const research = { text: 'Where does the time go?' };
const column = { text: 'Heat pumps' };
const play = { text: 'Play' };

const sources: readonly Source[] = [
  { name: 'helper', scripts: model },
  { name: 'remote', scripts: model },
  {
    name: 'swarm',
    scripts: {
      answer: { text: 'hello' },
      tool: research,
      // MAIL has no approvals: a breakpoint is a client tool.
      approval: { text: 'Plan a trip', reply: { output: 'money' } },
      error: { text: 'Fail' },
      abort: research,
      resume: research,
    },
  },
  {
    name: 'newsroom',
    scripts: {
      answer: column,
      tool: column,
      // Open Harness has no approvals either: a paused flow waits for the next message.
      approval: { ...column, reply: { text: 'yes, publish it' } },
      error: { text: 'Fail' },
      abort: column,
      resume: column,
    },
  },
  {
    name: 'recording',
    scripts: {
      answer: play,
      tool: play,
      // A tape plays one run and ignores input: its question is asked, answered, and asked again.
      approval: { ...play, agent: 'recorded-question', reply: { approve: true } },
      error: { ...play, agent: 'recorded-error' },
      abort: play,
      resume: play,
    },
  },
];

type Running = { url: string; close(): Promise<void> };

async function start(pace: number): Promise<Running> {
  const { agents, stop } = await startMatrixAgents(pace);
  const limits = { requestsPerSecond: 10_000 };
  const served = await serve({ agents, limits, database: createInMemoryStore() }, { port: 0 });
  return { url: served.url, close: async () => void (await Promise.all([served.close(), stop()])) };
}

/** Tests every source × protocol × scenario: no rule is violated, and the client ends with the stored message. */
export function describeMatrix(selectProtocols: (agent: string) => readonly Protocol[]): void {
  /** Fast for complete runs, slow for runs that are disturbed, slower for runs that must not end before the abort. */
  let fast: Running;
  let slow: Running;
  let slower: Running;
  beforeAll(async () => {
    // The AG-UI client logs every cut connection.
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    [fast, slow, slower] = await Promise.all([start(0.02), start(0.3), start(2)]);
  });
  afterAll(() => Promise.all([fast.close(), slow.close(), slower.close()]));

  test('has a client for every protocol with endpoints', () => {
    expect(Object.keys(clients).toSorted()).toEqual(servedProtocols.toSorted());
  });

  test('has scripts for the demo of every kind of agent', async () => {
    const { agents } = (await (await fetch(`${fast.url}/api/agents`)).json()) as {
      agents: Array<{ name: string; kind: string }>;
    };
    const scripted = agents.filter(({ name }) => sources.some((source) => source.name === name));
    const kinds = agentKinds.filter(({ startDemo }) => startDemo !== undefined).map(({ name }) => name);
    expect(new Set(scripted.map(({ kind }) => kind))).toEqual(new Set(kinds));
  });

  describe.each(sources)('$name', ({ name, scripts }) => {
    const cases = (Object.entries(scripts) as Array<[Scenario, Script]>).flatMap(([scenario, script]) =>
      selectProtocols(name).map((protocol) => [scenario, protocol.name, protocol, script] as const),
    );

    test.concurrent.each(cases)('%s over %s', async (scenario, _, protocol, { agent = name, ...script }) => {
      const { url: base } = scenario === 'abort' ? slower : scenario === 'resume' ? slow : fast;
      const thread = crypto.randomUUID();
      const { client, stored, violations } = await protocol.run({ base, agent, thread, scenario, ...script });
      expect(violations).toEqual([]);
      // A source may fail before its first output.
      expect(scenario === 'error' || (stored as unknown[]).length > 0).toBe(true);
      expect(withoutSteps(agent, client)).toEqual(withoutSteps(agent, stored));
      await expectOutcome(scenario, agent, base, thread);
    });
  });
}

/** Expects the run states that belong to the scenario. */
async function expectOutcome(scenario: Scenario, agent: string, base: string, thread: string): Promise<void> {
  const { runs } = (await (await fetch(`${base}/api/threads/${thread}/runs`)).json()) as {
    runs: Array<{ state: string }>;
  };
  const states = runs.map(({ state }) => state);
  const isAsked = scenario === 'approval';
  const isFlow = agent === 'newsroom';
  const end = agent === 'recorded-question' || (isFlow && !isAsked) ? 'paused' : 'complete';
  const expected = { error: ['error'], abort: ['aborted'], approval: ['paused', end] } as {
    [scenario in Scenario]?: string[];
  };
  expect(states).toEqual(expected[scenario] ?? [end]);
  if (scenario !== 'tool') return;
  const stored = await (await fetch(`${base}/api/threads/${thread}/messages?format=canonical`)).text();
  expect(stored).toContain('"state":"result"');
}

/**
 * Removes step starts where a chat and the store differ: with parallel agents, a chat marks fewer of them while it reads. In
 * the continuation of a source without steps, it marks one that the store does not.
 */
function withoutSteps(agent: string, parts: unknown): unknown {
  if (agent !== 'newsroom' && agent !== 'recorded-question') return parts;
  return (parts as Array<{ type?: string }>).filter(({ type }) => type !== 'step-start');
}

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chatMajors } from '../../ai-sdk/test/chats.ts';
import { startDemoServer, type DemoServer } from './demo-server.ts';
import {
  agUiProtocol,
  chatProtocol,
  eventsProtocol,
  streamsProtocol,
  type Protocol,
  type Scenario,
} from './protocols.ts';

const [chat6, chat7] = chatMajors.map(chatProtocol) as [Protocol, Protocol];
const streams = [streamsProtocol('long-poll'), streamsProtocol('sse')];

export const protocols: readonly Protocol[] = [chat6, chat7, agUiProtocol, ...streams, eventsProtocol];
/** One of a kind: the others read the same bytes, or the same log. */
export const someProtocols: readonly Protocol[] = [chat6, agUiProtocol];

const model: { [scenario in Scenario]: string } = {
  answer: 'hello',
  tool: 'What is the weather in Lisbon?',
  approval: 'Send an email to Ada',
  error: 'Fail',
  abort: 'Write a long answer',
  resume: 'hello',
};
/** What to say to whom, for what. A tape plays what is on it, and a flow pauses for words, not for an approval. */
const sources: { [agent: string]: { [scenario in Scenario]?: string } } = {
  helper: model,
  remote: model,
  swarm: { answer: 'Where does the time go?', abort: 'Where does the time go?', resume: 'Where does the time go?' },
  newsroom: { answer: 'Heat pumps', abort: 'Heat pumps', resume: 'Heat pumps' },
  recording: { answer: 'Play', abort: 'Play', resume: 'Play' },
};

/** Every source × the protocols given × what may happen: no rule is broken, and the client ends with what the store has. */
export function describeMatrix(protocolsOf: (agent: string) => readonly Protocol[]): void {
  /** Fast where the end is waited for, slow where a run is disturbed before it. */
  let fast: DemoServer;
  let slow: DemoServer;
  beforeAll(async () => {
    // The AG-UI client complains there of every connection that is cut.
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const limits = { requestsPerSecond: 10_000 };
    [fast, slow] = await Promise.all([startDemoServer({ pace: 0.02, limits }), startDemoServer({ pace: 0.3, limits })]);
  });
  afterAll(() => Promise.all([fast.close(), slow.close()]));

  describe.each(Object.entries(sources))('%s', (agent, scenarios) => {
    const cases = Object.entries(scenarios).flatMap(([scenario, text]) =>
      protocolsOf(agent).map((protocol) => [scenario as Scenario, protocol.name, protocol, text] as const),
    );

    test.concurrent.each(cases)('%s over %s', async (scenario, _, protocol, text) => {
      const isDisturbed = scenario === 'abort' || scenario === 'resume';
      const { url: base } = isDisturbed ? slow : fast;
      const thread = crypto.randomUUID();
      const { client, stored, violations } = await protocol.talk({ base, agent, thread, text, scenario });
      expect(violations).toEqual([]);
      expect(stored).not.toEqual([]);
      expect(withoutSteps(agent, client)).toEqual(withoutSteps(agent, stored));
    });
  });
}

/** Where agents work side by side, a chat marks fewer beginnings of steps while it reads than the store knows of. */
function withoutSteps(agent: string, parts: unknown): unknown {
  if (agent !== 'newsroom') return parts;
  return (parts as Array<{ type?: string }>).filter(({ type }) => type !== 'step-start');
}

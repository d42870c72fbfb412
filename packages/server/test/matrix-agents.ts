import type { AgentEvent, Tape } from '@intertie/core';
import { startMAILDemo } from '@intertie/mail/demo';
import { createFlowRuntime, demoFlow } from '@intertie/open-harness/demo';
import type { AgentDefinition } from '@intertie/core';
import { mailSwarm, openHarness, tape } from '../src/agent-kinds.ts';
import { startDemoAgents, type StartedDemos } from '../src/demo/start-demo-agents.ts';

/** The demo agents, extended by a flow that fails and by tapes of a failed run and of a question. */
export async function startMatrixAgents(pace: number): Promise<StartedDemos> {
  // A real MAIL server, and so the demo, takes 15 seconds to report that a swarm has asked or failed.
  const [demo, swarm] = await Promise.all([
    startDemoAgents({ pace }),
    startMAILDemo({ paceMs: 400 * pace, stallMs: 50 }),
  ]);
  const agents: { [name: string]: AgentDefinition } = {
    ...demo.agents,
    swarm: mailSwarm({ baseUrl: swarm.url, authToken: 'demo' }),
    newsroom: openHarness(({ resume }) =>
      createFlowRuntime({ flow: fragileFlow, pace: 15 * pace, ...(resume && { resume }) }),
    ),
    'recorded-error': tape(failedTape, { speed: Infinity }),
    'recorded-question': tape(askingTape, { speed: Infinity }),
  };
  return { agents, stop: async () => void (await Promise.all([demo.stop(), swarm.stop()])) };
}

/** The demo flow with a press researcher that fails for the message “Fail”. */
const fragileFlow: typeof demoFlow = {
  ...demoFlow,
  nodes: demoFlow.nodes.map((node) => {
    if (node.id !== 'press' || !('run' in node)) return node;
    return {
      ...node,
      run: async (context) => {
        if (context.input.message !== 'Fail') return node.run(context);
        await context.say('I try.');
        throw new Error('The press was closed.');
      },
    };
  }),
};

const opening: AgentEvent[] = [
  { type: 'run-start', runId: 'tape', threadId: 'tape', messageId: 'tape' },
  { type: 'agent-start', agentId: 'scout', name: 'scout', kind: 'agent' },
  { type: 'text-start', id: 'says', agentId: 'scout' },
  { type: 'text-delta', id: 'says', delta: 'This was recorded.' },
];
const recorded = (...events: AgentEvent[]): Tape<unknown> => ({
  header: { tape: 1, dialect: 'canonical' },
  items: [...opening, ...events].map((item, t) => ({ t, item })),
});

const failedTape = recorded({ type: 'run-end', outcome: 'error', error: { message: 'It broke.', code: 'provider' } });

/** A tape cannot use an answer, so its question is asked again. */
const askingTape = recorded(
  { type: 'text-end', id: 'says' },
  { type: 'tool-call', toolCallId: 'c', toolName: 'paint', input: { wall: 1 }, agentId: 'scout', executor: 'runtime' },
  { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'c', message: 'May I paint?' },
  { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }] },
);

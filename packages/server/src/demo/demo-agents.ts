import { modelSource } from '@intertie/ai-sdk';
import { startMAILDemo } from '@intertie/mail/demo';
import { demoFlow, demoRuntime } from '@intertie/open-harness/demo';
import { agUi } from '../agents/ag-ui.ts';
import type { AgentDefinition } from '../agents/agent-definition.ts';
import { mailSwarm } from '../agents/mail-swarm.ts';
import { model } from '../agents/model.ts';
import { openHarness } from '../agents/open-harness.ts';
import { tape } from '../agents/tape.ts';
import { demoModel } from './demo-model.ts';
import { demoTape } from './demo-tape.ts';
import { demoTools } from './demo-tools.ts';
import { startAGUIDemo } from './start-ag-ui-demo.ts';

export type DemoOptions = {
  /** Delay factor of the demos: 1 for the pace of a person who types, 0 for none. Default: 1. */
  pace?: number;
};

export type DemoAgents = { agents: { [name: string]: AgentDefinition }; stop(): Promise<void> };

/** Starts one scripted agent of every kind. They need no API key and send nothing to other machines. */
export async function startDemoAgents({ pace = 1 }: DemoOptions = {}): Promise<DemoAgents> {
  const modelOptions = { paceMs: 25 * pace };
  const [swarm, remote] = await Promise.all([
    startMAILDemo({ paceMs: 400 * pace }),
    startAGUIDemo(modelSource(demoModel(modelOptions), { name: 'helper', tools: demoTools() })),
  ]);
  const agents = {
    helper: demo(
      model(demoModel(modelOptions), {
        tools: demoTools(),
        description: 'A scripted model with tools: one runs, one asks you first.',
        suggestions: ['What is the weather in Lisbon?', 'Send an email to Ada', 'Draw a chart', 'Write a long answer'],
      }),
    ),
    swarm: demo(
      mailSwarm({
        baseUrl: swarm.url,
        authToken: 'demo',
        description: 'A MAIL swarm over HTTP: a supervisor, a researcher and a writer.',
        suggestions: ['Where does the time go in our build?'],
      }),
    ),
    newsroom: demo(
      openHarness((turn) => demoRuntime(turn, { pace: 15 * pace }), {
        flow: demoFlow,
        description:
          'An Open Harness flow: a plan, two researchers side by side, an editor who asks before publishing.',
        suggestions: ['Heat pumps', 'Night trains'],
      }),
    ),
    remote: demo(
      agUi({
        url: remote.url,
        description: 'The helper again, as an AG-UI agent that is reached over HTTP.',
        suggestions: ['What is the weather in Oslo?'],
      }),
    ),
    recording: demo(
      tape(demoTape(), {
        speed: pace === 0 ? Infinity : 1 / pace,
        description: 'A recorded run that is played again, whatever you say.',
        suggestions: ['Play it'],
      }),
    ),
  };
  return { agents, stop: async () => void (await Promise.all([swarm.stop(), remote.stop()])) };
}

function demo(definition: AgentDefinition): AgentDefinition {
  return { ...definition, isDemo: true };
}

import { modelAgent, modelSource } from '@intertie/ai-sdk';
import type { AgentSource, DemoAgents, DemoHost } from '@intertie/core';
import { demoModel } from './demo-model.ts';
import { demoTools } from './demo-tools.ts';

const createModel = (pace: number): ReturnType<typeof demoModel> => demoModel({ paceMs: 25 * pace });

/** Creates the scripted model as a source, which the demos of protocols serve. */
export function createDemoSource(name: string, pace: number): AgentSource {
  return modelSource(createModel(pace), { name, tools: demoTools() });
}

/** Starts the scripted model with its tools. */
export async function startModelDemo({ pace }: DemoHost): Promise<DemoAgents> {
  const helper = modelAgent(createModel(pace), {
    tools: demoTools(),
    recover: 'step',
    description: 'A scripted model with tools: one runs, one asks you first.',
    suggestions: ['What is the weather in Lisbon?', 'Send an email to Ada', 'Draw a chart', 'Write a long answer'],
  });
  return { agents: { helper } };
}

import type { RuntimeEvent } from '../src/runtime/runtime-event.ts';

/** The only node of the flow of `begin` and `finish`. */
export const node = { nodeId: 'a', runId: 'n1' };

export const begin: RuntimeEvent[] = [
  { type: 'flow:start', flowName: 'flow' },
  { type: 'node:start', ...node },
];

export const finish: RuntimeEvent[] = [
  { type: 'node:complete', ...node, output: null },
  { type: 'flow:complete', flowName: 'flow', status: 'complete' },
];

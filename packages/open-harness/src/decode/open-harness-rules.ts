import type { Rule } from '@intertie/core';

export type OpenHarnessRule = 'event' | 'fields' | 'node' | 'whole' | 'late' | 'end';

/** What holds in what a graph runtime of either generation tells its listeners. */
export const openHarnessRules: ReadonlyArray<Rule & { id: OpenHarnessRule }> = [
  {
    id: 'event',
    sentence: 'An item is an event: an object with a type.',
    fix: 'Give the events as `onEvent` gives them, one by one.',
  },
  {
    id: 'fields',
    sentence: 'An event has what its type asks for: a node its ids, words their content, a complaint its message.',
    fix: 'Check the node that emits it: the runtime passes on what a node says, whatever it is.',
  },
  {
    id: 'node',
    sentence: 'What ends an invocation of a node comes after its node:start, and once.',
    fix: 'Emit node:start with the same runId first. A node that runs again has another runId.',
  },
  {
    id: 'whole',
    sentence: 'A whole block says what its deltas have said.',
    fix: 'Emit the deltas of a block with the ids of its whole, or the whole alone.',
  },
  {
    id: 'late',
    sentence: 'Nothing comes after flow:complete.',
    fix: 'Let a node that timed out notice it: the runtime does not stop it, and what it says later reaches nobody.',
  },
  {
    id: 'end',
    sentence: 'The last word on a flow is flow:complete, flow:paused or flow:aborted.',
    fix: 'Watch the promise of run() too: it may be rejected without a word to the listeners.',
  },
];

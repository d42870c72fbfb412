import type { Rule } from '@intertie/core';

export type OpenHarnessRule = 'event' | 'fields' | 'node' | 'whole' | 'late' | 'end';

/** Rules for the events that a graph runtime of either generation emits to its listeners. */
export const openHarnessRules: ReadonlyArray<Rule & { id: OpenHarnessRule }> = [
  {
    id: 'event',
    sentence: 'An item is an event: an object with a type.',
    fix: 'Pass the events of `onEvent` one by one.',
  },
  {
    id: 'fields',
    sentence:
      'An event has the fields that its type requires: ids for a node, content for text, a message for an error.',
    fix: 'Check the node that emits it: the runtime passes on the events of nodes unchanged.',
  },
  {
    id: 'node',
    sentence: 'An invocation of a node ends once, after its node:start.',
    fix: 'Emit node:start with the same runId first. A node that runs again has another runId.',
  },
  {
    id: 'whole',
    sentence: 'A complete block equals its joined deltas.',
    fix: 'Emit the deltas of a block with the ids of the complete block, or only the complete block.',
  },
  {
    id: 'late',
    sentence: 'No event follows flow:complete.',
    fix: 'Make a node stop after its timeout: the runtime does not stop it, and its later events are dropped.',
  },
  {
    id: 'end',
    sentence: 'The last flow event is flow:complete, flow:paused or flow:aborted.',
    fix: 'Await the promise of run() too: it may reject without an event.',
  },
];

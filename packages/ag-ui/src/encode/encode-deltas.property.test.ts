import { transcode, type AgentEvent } from '@intertie/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAGUIEncoder } from './encode-ag-ui.ts';

const kinds = ['text', 'reasoning', 'tool-input'] as const;
type Kind = (typeof kinds)[number];
type Move = { kind: Kind; id: string; does: 'start' | 'delta' | 'end'; delta: string };

const ids = ['a', 'b', 'c'];
const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.constantFrom(...kinds),
  id: fc.constantFrom(...ids),
  does: fc.constantFrom('start', 'delta', 'delta', 'delta', 'delta', 'end'),
  delta: fc.constantFrom('x', 'y "z"\n', ''),
});

/** Converts a move to an event. Part ids are unique across kinds. */
function toEvent({ kind, id: name, does, delta }: Move): AgentEvent {
  const id = `${kind}-${name}`;
  if (kind === 'tool-input') {
    if (does === 'start') return { type: 'tool-input-start', toolCallId: id, toolName: 'look' };
    if (does === 'delta') return { type: 'tool-input-delta', toolCallId: id, delta };
    return { type: 'tool-call', toolCallId: id, toolName: 'look', input: {} };
  }
  if (does === 'delta') return { type: `${kind}-delta`, id, delta };
  return { type: `${kind}-${does}`, id };
}

const contents: Record<Kind, [type: string, key: string]> = {
  text: ['TEXT_MESSAGE_CONTENT', 'messageId'],
  reasoning: ['REASONING_MESSAGE_CONTENT', 'messageId'],
  'tool-input': ['TOOL_CALL_ARGS', 'toolCallId'],
};

it('emits exactly the deltas of open parts, under their own ids, in any interleaving', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60, size: 'max' }), (moves) => {
      const open = new Set<string>();
      const over = new Set<string>();
      const expected: unknown[] = [];
      const valid = moves.filter((step) => {
        const id = `${step.kind}-${step.id}`;
        if (step.does === 'start') return !open.has(id) && !over.has(id) && open.add(id);
        if (step.does === 'end') return open.delete(id) && over.add(id);
        const [type, key] = contents[step.kind];
        if (open.has(id) && step.delta !== '') expected.push({ type, [key]: id, delta: step.delta });
        return true;
      });
      const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 0 };
      const events = transcode(createAGUIEncoder({ protocolVersion: '1.0' }), [start, ...valid.map(toEvent)]);
      const types = new Set(Object.values(contents).map(([type]) => type));
      // A call without deltas emits its complete input as arguments.
      const whole = JSON.stringify({});
      const deltas = events.filter((event) => types.has(event.type) && (event as { delta?: string }).delta !== whole);
      expect(deltas).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

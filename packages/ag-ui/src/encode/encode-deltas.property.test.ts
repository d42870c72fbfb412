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

/** In one name space, as parts are: each begins once. */
function eventOf({ kind, id: name, does, delta }: Move): AgentEvent {
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

it('tells the words of what is open, under its own id, and of nothing else, however they are mixed', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 60, size: 'max' }), (moves) => {
      const open = new Set<string>();
      const over = new Set<string>();
      const expected: unknown[] = [];
      const told = moves.filter((one) => {
        const id = `${one.kind}-${one.id}`;
        if (one.does === 'start') return !open.has(id) && !over.has(id) && open.add(id);
        if (one.does === 'end') return open.delete(id) && over.add(id);
        const [type, key] = contents[one.kind];
        if (open.has(id) && one.delta !== '') expected.push({ type, [key]: id, delta: one.delta });
        return true;
      });
      const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 0 };
      const events = transcode(createAGUIEncoder({ protocolVersion: '1.0' }), [start, ...told.map(eventOf)]);
      const types = new Set(Object.values(contents).map(([type]) => type));
      // A call that nothing was streamed of says its input when it is complete.
      const whole = JSON.stringify({});
      const words = events.filter((event) => types.has(event.type) && (event as { delta?: string }).delta !== whole);
      expect(words).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

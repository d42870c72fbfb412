import { canonical, check } from '@intertie/conformance';
import { arbitraryRun } from '@intertie/conformance/arbitraries';
import { compose, seal, type AgentEvent, type Codec, type Emit } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verify } from '../../test/ag-ui-client.ts';
import { agUi } from '../ag-ui-protocol.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { createAGUIWriter, bindWriter, type AGUIWriter } from './ag-ui-writer.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import { withWrites } from './with-writes.ts';
import type { WriteQueue } from './write-queue.ts';

type During = { toolCallId?: string };
const writes: ReadonlyArray<(writer: AGUIWriter, during: During) => boolean> = [
  (writer, during) => writer.custom('acme.note', 1, during),
  (writer, during) => writer.activity('written', 'PLAN', { list: [] }, during),
  (writer, during) => writer.patchActivity('written', [{ op: 'add', path: '/list/-', value: 1 }], during),
  (writer, during) => writer.state({ list: [] }, during),
  (writer, during) => writer.patchState([{ op: 'add', path: '/list/-', value: 1 }], during),
  (writer, during) => writer.raw(1, 'acme', during),
];

const plain: Codec<unknown, AgentEvent> = {
  feed: (event, emit) => emit(event as AgentEvent),
  end: () => undefined,
};
const plan = fc.array(fc.record({ place: fc.nat(80), what: fc.nat(writes.length - 1), call: fc.nat(10) }), {
  maxLength: 12,
});

describe('withWrites', () => {
  it('keeps a run valid for any writes at any time', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRun(), plan, async ({ run, events, end }, planned) => {
        const writer = createAGUIWriter();
        const queue = bindWriter(writer, () => undefined) as WriteQueue;
        const codec = compose(
          withWrites(plain, queue, run),
          seal(run, () => undefined),
        );
        const calls = events.flatMap((event) => (event.type === 'tool-call' ? [event.toolCallId] : []));
        const emitted: AgentEvent[] = [];
        const emit: Emit<AgentEvent> = (event) => void emitted.push(event);
        const isOver = (): boolean => emitted.at(-1)?.type === 'run-end';
        for (const [index, event] of events.entries()) {
          for (const { what, call } of planned.filter(({ place }) => place === index)) {
            const toolCallId = calls[call];
            expect(writes[what]!(writer, toolCallId === undefined ? {} : { toolCallId })).toBe(!isOver());
          }
          codec.feed(event, emit);
        }
        codec.end(end, emit);
        expect(check(canonical, emitted).violations).toEqual([]);
        expect(emitted.filter(({ type }) => type === 'run-end')).toHaveLength(1);
        expect(writer.custom('acme.late', 1)).toBe(false);

        const encoded: AGUIEvent[] = [];
        const encoder = createAGUIEncoder({ protocolVersion: '1.0' });
        for (const event of emitted) encoder.feed(event, (out) => void encoded.push(out));
        expect(await verify(encoded)).toBeUndefined();
        expect(check(agUi, encoded).violations).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

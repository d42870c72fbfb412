import { check } from '@intertie/conformance';
import { seal, transcode, type AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';
import { agUi } from '../ag-ui-protocol.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import { createAGUIWriter, bindWriter } from '../stream-text/ag-ui-writer.ts';
import { createAGUIDecoder } from '../decode/decode-ag-ui.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import type { WriteQueue } from '../stream-text/write-queue.ts';
import { runInput } from '../../../core/test/run-input.ts';

const run = runInput({ runId: 'r', threadId: 't', messageId: 'm' });
const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' };

function encode(event: AgentEvent): AGUIEvent[] {
  const events = transcode(
    seal(run, () => undefined),
    [event, { type: 'run-end', outcome: 'complete' }],
  );
  return transcode(createAGUIEncoder({ protocolVersion: '1.0' }), events);
}

const getName = (events: readonly AGUIEvent[]): unknown =>
  events.flatMap((event) => (event.type === 'CUSTOM' ? [event.name] : []))[0];
const decode = (events: readonly unknown[]): AgentEvent | undefined =>
  transcode(createAGUIDecoder(run), events).find(({ type }) => type === 'data');

it.each([
  ['edge', 'intertie.data.edge'],
  ['.odd', 'intertie.data..odd'],
  ['', 'intertie.data.'],
  ['acme.progress', 'acme.progress'],
  ['provider:kind', 'provider:kind'],
  ['intertie.data.edge', 'intertie.data.intertie.data.edge'],
])('encodes transient data named "%s" as "%s" and decodes it', (name, wire) => {
  const data: AgentEvent = { type: 'data', id: 'd', name, data: { a: 1 }, transient: true };
  const events = encode(data);
  expect(getName(events)).toBe(wire);
  expect(check(agUi, events).violations).toEqual([]);
  expect(decode(events)).toEqual(data);
});

it('preserves an agent’s name without a prefix', () => {
  const decoded = decode([started, { type: 'CUSTOM', name: 'progress', value: 1 }])!;
  expect(decoded).toMatchObject({ type: 'data', name: 'progress' });
  const encoded = encode(decoded);
  expect(getName(encoded)).toBe('progress');
  expect(decode(encoded)).toEqual(decoded);
});

it('preserves a written name without a prefix', () => {
  const writer = createAGUIWriter();
  const queue = bindWriter(writer, () => undefined) as WriteQueue;
  writer.custom('progress', 1);
  const [written] = queue.drain();
  expect(getName(encode(written!.event))).toBe('progress');
});

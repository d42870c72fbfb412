import { check } from '@intertie/conformance';
import { seal, transcode, type AgentEvent } from '@intertie/core';
import { expect, it } from 'vitest';
import { agUi } from '../check/ag-ui-dialect.ts';
import type { AGUIEvent } from './ag-ui-event.ts';
import { createAGUIWriter, bindWriter } from '../stream-text/ag-ui-writer.ts';
import { createAGUIDecoder } from '../decode/decode-ag-ui.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import type { WriteQueue } from '../stream-text/write-queue.ts';
import { runInput } from '../../../core/test/run-input.ts';

const run = runInput({ runId: 'r', threadId: 't', messageId: 'm' });
const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' };

function out(event: AgentEvent): AGUIEvent[] {
  const events = transcode(
    seal(run, () => undefined),
    [event, { type: 'run-end', outcome: 'complete' }],
  );
  return transcode(createAGUIEncoder({ protocolVersion: '1.0' }), events);
}

const nameIn = (events: readonly AGUIEvent[]): unknown =>
  events.flatMap((event) => (event.type === 'CUSTOM' ? [event.name] : []))[0];
const back = (events: readonly unknown[]): AgentEvent | undefined =>
  transcode(createAGUIDecoder(run), events).find(({ type }) => type === 'data');

it.each([
  ['edge', 'intertie.data.edge'],
  ['.odd', 'intertie.data..odd'],
  ['', 'intertie.data.'],
  ['acme.progress', 'acme.progress'],
  ['provider:kind', 'provider:kind'],
  ['intertie.data.edge', 'intertie.data.intertie.data.edge'],
])('transient data named "%s" goes out as "%s", keeps the rules, and comes back', (name, wire) => {
  const data: AgentEvent = { type: 'data', id: 'd', name, data: { a: 1 }, transient: true };
  const events = out(data);
  expect(nameIn(events)).toBe(wire);
  expect(check(agUi, events).violations).toEqual([]);
  expect(back(events)).toEqual(data);
});

it('a name that an agent gives without a prefix is told as it was', () => {
  const heard = back([started, { type: 'CUSTOM', name: 'progress', value: 1 }])!;
  expect(heard).toMatchObject({ type: 'data', name: 'progress' });
  const told = out(heard);
  expect(nameIn(told)).toBe('progress');
  expect(back(told)).toEqual(heard);
});

it('a name that somebody writes without a prefix is told as it was written', () => {
  const writer = createAGUIWriter();
  const queue = bindWriter(writer, () => undefined) as WriteQueue;
  writer.custom('progress', 1);
  const [written] = queue.drain();
  expect(nameIn(out(written!.event))).toBe('progress');
});

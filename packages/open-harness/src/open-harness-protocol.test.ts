import { check } from '@intertie/conformance';
import { expect, test } from 'vitest';
import { runInput } from '../test/run-input.ts';
import { traces } from '../test/traces.ts';
import { openHarnessProtocol } from './open-harness-protocol.ts';
import type { RuntimeEvent } from './runtime/runtime-event.ts';

/** Rule violations of the real runtimes, by recording. */
const faults: { [name: string]: string[] } = {
  '14-timeout-late-events': ['late', 'late', 'late', 'late', 'late'],
  '27-send-missing-runId': ['end'],
  '31-run-rejects-unknown-node-type': ['end'],
  '33-run-rejects-bad-expression': ['end'],
  'v0.2.0-pause-resume': ['fields', 'whole'],
};

test.each(traces)('detects trace $name and reports only its known violations', (trace) => {
  expect(trace.events.every((event) => openHarnessProtocol.looksLike(event))).toBe(true);
  const { violations, losses } = check(openHarnessProtocol, trace.events);
  expect(violations.map(({ rule }) => rule)).toEqual(faults[trace.name] ?? []);
  expect(losses).toEqual([]);
});

const node = { nodeId: 'a', runId: 'n1' };
const rest: RuntimeEvent = { type: 'flow:complete', flowName: 'f', status: 'complete' };

test.each<[rule: string, items: unknown[]]>([
  ['event', ['flow:start', rest]],
  ['fields', [{ type: 'node:start', nodeId: 'a' }, rest]],
  ['node', [{ type: 'node:complete', ...node, output: 1 }, rest]],
  ['whole', [{ type: 'agent:text:delta', ...node, content: 'a' }, { type: 'agent:text', ...node, content: 'b' }, rest]],
  ['late', [rest, { type: 'node:start', ...node }]],
  ['end', [{ type: 'flow:start', flowName: 'f' }]],
])('reports a violation of the rule %s', (rule, items) => {
  expect(check(openHarnessProtocol, items).violations).toMatchObject([{ rule }]);
  expect(openHarnessProtocol.rules.map(({ id }) => id)).toContain(rule);
});

test('reports unknown events as losses and decodes the others', () => {
  const { losses } = check(openHarnessProtocol, [{ type: 'agent:dreams' }, rest]);
  expect(losses).toMatchObject([{ kind: 'unsupported', what: 'agent:dreams' }]);
  expect(openHarnessProtocol.looksLike({ type: 'text-delta' })).toBe(false);
  const types: string[] = [];
  openHarnessProtocol.decoder!(runInput(), () => undefined).feed(rest, ({ type }) => void types.push(type));
  expect(types.at(-1)).toBe('run-end');
});

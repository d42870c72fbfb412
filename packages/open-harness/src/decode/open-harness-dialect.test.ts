import { check } from '@intertie/conformance';
import { expect, test } from 'vitest';
import { runInput } from '../../test/run-input.ts';
import { traces } from '../../test/traces.ts';
import { openHarnessDialect } from './open-harness-dialect.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';

/** The recordings in which the real runtimes break a rule of their own. */
const faults: { [name: string]: string[] } = {
  '14-timeout-late-events': ['late', 'late', 'late', 'late', 'late'],
  '27-send-missing-runId': ['end'],
  '31-run-rejects-unknown-node-type': ['end'],
  '33-run-rejects-bad-expression': ['end'],
  'v0.2.0-pause-resume': ['fields', 'whole'],
};

test.each(traces)('the trace $name is recognised, and breaks the rules that it is known to break', (trace) => {
  expect(trace.events.every((event) => openHarnessDialect.detect(event))).toBe(true);
  const { violations, losses } = check(openHarnessDialect, trace.events);
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
])('%s is a rule', (rule, items) => {
  expect(check(openHarnessDialect, items).violations).toMatchObject([{ rule }]);
  expect(openHarnessDialect.rules.map(({ id }) => id)).toContain(rule);
});

test('knows what it does not know, and decodes', () => {
  const { losses } = check(openHarnessDialect, [{ type: 'agent:dreams' }, rest]);
  expect(losses).toMatchObject([{ kind: 'unsupported', what: 'agent:dreams' }]);
  expect(openHarnessDialect.detect({ type: 'text-delta' })).toBe(false);
  const types: string[] = [];
  openHarnessDialect.decoder!(runInput(), () => undefined).feed(rest, ({ type }) => void types.push(type));
  expect(types.at(-1)).toBe('run-end');
});

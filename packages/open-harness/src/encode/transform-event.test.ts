import { createUIMessageStreamProtocol, type UIMessageChunk } from '@intertie/ai-sdk';
import { check } from '@intertie/conformance';
import { describe, expect, test } from 'vitest';
import { node } from '../../test/flow-events.ts';
import { readChunks } from '../../test/replayed-chat.ts';
import { runInput } from '../../test/run-input.ts';
import { findTrace, traces } from '../../test/traces.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';
import { createTransformState, transformEvent } from './transform-event.ts';

const getTypes = (chunks: UIMessageChunk[]): string[] => chunks.map(({ type }) => type);

/** Returns the types of visible chunks, without the transport's resume token and error codes. */
const shown = (chunks: UIMessageChunk[]): string[] =>
  getTypes(chunks).filter((type) => type !== 'data-event' && type !== 'message-metadata');

describe('transformEvent without a state', () => {
  test.each<[RuntimeEvent, string[]]>([
    [{ type: 'node:start', ...node }, ['start-step', 'data-agent']],
    [{ type: 'agent:text:delta', ...node, content: 'Hi' }, ['text-start', 'text-delta', 'text-end']],
    [{ type: 'agent:text', ...node, content: 'Hi' }, ['text-start', 'text-delta', 'text-end']],
    [{ type: 'agent:thinking:delta', ...node, content: 'Hm' }, ['reasoning-start', 'reasoning-delta', 'reasoning-end']],
    [
      { type: 'agent:tool', ...node, toolName: 'x', toolInput: 1, toolOutput: 2 },
      ['tool-input-available', 'tool-output-available'],
    ],
    [{ type: 'agent:tool', ...node, toolName: 'x', error: '' }, ['tool-input-available', 'tool-output-error']],
    [{ type: 'node:complete', ...node, output: 3 }, ['data-node-output']],
    [{ type: 'flow:complete', flowName: 'f', status: 'complete' }, ['data-flow-status', 'finish']],
    [{ type: 'flow:complete', flowName: 'f', status: 'failed' }, ['data-flow-status', 'message-metadata', 'error']],
    [{ type: 'flow:paused' }, ['finish']],
    [{ type: 'flow:aborted' }, ['message-metadata', 'abort']],
  ])('emits only the chunks of the event %j', (event, types) => {
    expect(getTypes(transformEvent(event))).toEqual(types);
  });

  test('emits the content of the event', () => {
    expect(transformEvent({ type: 'agent:text:delta', ...node, content: 'Hi' })).toContainEqual(
      expect.objectContaining({ type: 'text-delta', delta: 'Hi' }),
    );
  });

  test.each([null, 7, {}, { type: 'flow:unknown' }, { type: 'agent:text:delta' }])('does not throw on %j', (value) => {
    expect(getTypes(transformEvent(value as never)).filter((type) => !type.startsWith('data-'))).toEqual([]);
  });
});

describe.each(traces)('transformEvent with a state: trace $name', ({ name, events, thrown, snapshot }) => {
  test('emits the same chunks as the chat transport', async () => {
    const state = createTransformState({ run: runInput() });
    const chunks = events.flatMap((event) => transformEvent(event, state));
    if (thrown !== undefined) {
      state.end({ reason: 'error', error: { message: thrown } }, (chunk) => void chunks.push(chunk));
    } else if (snapshot) chunks.push(...transformEvent({ type: 'settled', snapshot }, state));
    state.end({ reason: 'eof' }, (chunk) => void chunks.push(chunk));
    expect(shown(chunks)).toEqual(shown(await readChunks(name)));
    const { violations } = check(createUIMessageStreamProtocol({ version: 6 }), chunks);
    expect(violations.filter(({ rule }) => rule !== 'S12-empty')).toEqual([]);
  });
});

test('applies the options of the transport with a state', () => {
  const state = createTransformState({ sendReasoning: false, sendStepMarkers: false });
  const types = getTypes(findTrace('02').events.flatMap((event) => transformEvent(event, state)));
  expect(types.filter((type) => !type.startsWith('data-') && type !== 'text-delta')).toEqual([
    'start',
    'text-start',
    'text-end',
    'finish',
  ]);
});

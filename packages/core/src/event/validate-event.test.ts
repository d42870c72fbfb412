import { describe, expect, it } from 'vitest';
import { eventTypes, readEvent, validateEvent } from './validate-event.ts';

describe('validateEvent', () => {
  it('knows the 30 types of the grammar', () => {
    expect(eventTypes).toHaveLength(30);
  });

  it.each<[string, unknown, string, RegExp]>([
    ['no object', 'text', '', /expected an event/i],
    ['a list', [], '', /expected an event/i],
    ['an unknown type', { type: 'text' }, 'type', /a known type of event, found "text"/],
    ['a type of the prototype', { type: 'toString' }, 'type', /a known type/],
    [
      'a missing field',
      { type: 'text-delta', id: 'a' },
      'delta',
      /delta of "text-delta": expected a value, found nothing/,
    ],
    ['a wrong field', { type: 'text-delta', id: 'a', delta: 1 }, 'delta', /a string, found 1/],
    ['an empty id', { type: 'text-start', id: '' }, 'id', /non-empty/],
    ['a false flag', { type: 'text-start', id: 'a', internal: false }, 'internal', /true, or nothing/],
    [
      'metadata that is flat',
      { type: 'text-start', id: 'a', providerMetadata: { openai: 1 } },
      'providerMetadata.openai',
      /object/,
    ],
    ['a bad outcome', { type: 'run-end', outcome: 'done' }, 'outcome', /"complete" or "paused"/],
    ['a pause without a list', { type: 'run-end', outcome: 'paused' }, 'waitingFor', /a value/],
    [
      'a bad wait',
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool' }] },
      'waitingFor[0].toolCallId',
      /a value/,
    ],
    ['a patch without a value', { type: 'state-delta', patch: [{ op: 'add', path: '' }] }, 'patch[0].value', /a value/],
    ['an unknown operation', { type: 'state-delta', patch: [{ op: 'merge' }] }, 'patch[0].op', /"add" or/],
    ['a file twice', { type: 'file', id: 'a', data: '', url: '' }, '', /exactly one of data, url and reference/],
    ['a file of bytes', { type: 'file', id: 'a', data: new Uint8Array() }, 'data', /a string/],
    ['a BigInt', { type: 'data', id: 'a', name: 'n', data: { n: [1n] } }, 'data.n[0]', /JSON, found 1/],
    ['a class', { type: 'data', id: 'a', name: 'n', data: { when: new Date() } }, 'data.when', /plain JSON object/],
    ['not a number', { type: 'state-snapshot', state: NaN }, 'state', /finite/],
    ['a result without a status', { type: 'tool-result', toolCallId: 'c' }, 'status', /"ok" or "error" or "denied"/],
    [
      'a newer content',
      { type: 'message-snapshot', content: { format: 3, parts: [] } },
      'content.format',
      /expected 2, found 3/,
    ],
    ['a bad time', { type: 'raw', dialect: 'x', value: null, at: 'now' }, 'at', /finite number/],
  ])('refuses %s, and names the place', (_, event, path, message) => {
    expect(validateEvent(event)).toEqual({ path, message: expect.stringMatching(message) });
  });

  it('passes over unknown fields, and fields that are undefined', () => {
    expect(validateEvent({ type: 'text-start', id: 'a', agentId: undefined, future: () => 1 })).toBeUndefined();
  });

  it('refuses what would overflow the stack', () => {
    let deep: unknown = null;
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(validateEvent({ type: 'state-snapshot', state: deep })?.message).toMatch(/nested at most/);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(validateEvent({ type: 'state-snapshot', state: circle })?.message).toMatch(/nested at most/);
  });
});

it('interjections inside interjections have an end', () => {
  let part: object = { type: 'text', text: 'x' };
  for (let depth = 0; depth < 20_000; depth++) part = { type: 'interjection', role: 'user', parts: [part] };
  expect(validateEvent({ type: 'interjection', id: 'i', role: 'user', parts: [part] })?.message).toMatch(
    /nested at most/,
  );
});

it('a snapshot takes values as deep as the events that made them', () => {
  let data: unknown = 0;
  for (let depth = 0; depth < 255; depth++) data = [data];
  expect(validateEvent({ type: 'data', id: 'd', name: 'n', data })).toBeUndefined();
  const content = { format: 2, parts: [{ type: 'data', id: 'd', data }] };
  expect(validateEvent({ type: 'message-snapshot', content })).toBeUndefined();
});

describe('readEvent', () => {
  it('carries a type that it does not know as raw', () => {
    const event = { type: 'hologram', at: 1, beams: [1] };
    expect(readEvent(event)).toEqual({ type: 'raw', dialect: 'canonical', value: event });
  });

  it('a snapshot of a newer format says to upgrade', () => {
    expect(() => readEvent({ type: 'message-snapshot', content: { format: 3, parts: [] } })).toThrow(
      /Upgrade Intertie/,
    );
  });

  it('throws on a known type in a wrong shape, and says where', () => {
    expect(() => readEvent({ type: 'text-delta', id: 'a' })).toThrow(/delta of "text-delta"/);
  });
});

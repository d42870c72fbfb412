import { describe, expect, it } from 'vitest';
import { eventTypes, readEvent, validateEvent } from './validate-event.ts';

describe('validateEvent', () => {
  it('knows the 30 types of the grammar', () => {
    expect(eventTypes).toHaveLength(31);
  });

  it.each<[string, unknown, string, RegExp]>([
    ['a string', 'text', '', /expected an event/i],
    ['a list', [], '', /expected an event/i],
    ['an unknown type', { type: 'text' }, 'type', /a known type of event, found "text"/],
    ['a type from the prototype', { type: 'toString' }, 'type', /a known type/],
    [
      'a missing field',
      { type: 'text-delta', id: 'a' },
      'delta',
      /delta of "text-delta": expected a value, found nothing/,
    ],
    ['a field of another type', { type: 'text-delta', id: 'a', delta: 1 }, 'delta', /a string, found 1/],
    ['an empty id', { type: 'text-start', id: '' }, 'id', /non-empty/],
    ['a false flag', { type: 'text-start', id: 'a', internal: false }, 'internal', /true or no value/],
    [
      'flat metadata',
      { type: 'text-start', id: 'a', providerMetadata: { openai: 1 } },
      'providerMetadata.openai',
      /object/,
    ],
    ['an unknown outcome', { type: 'run-end', outcome: 'done' }, 'outcome', /"complete" or "paused"/],
    ['a pause without a list', { type: 'run-end', outcome: 'paused' }, 'waitingFor', /a value/],
    [
      'an invalid waitingFor item',
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'tool' }] },
      'waitingFor[0].toolCallId',
      /a value/,
    ],
    ['a patch without a value', { type: 'state-delta', patch: [{ op: 'add', path: '' }] }, 'patch[0].value', /a value/],
    ['an unknown operation', { type: 'state-delta', patch: [{ op: 'merge' }] }, 'patch[0].op', /"add" or/],
    [
      'a file with data and url',
      { type: 'file', id: 'a', data: '', url: '' },
      '',
      /exactly one of data, url and reference/,
    ],
    ['a file of bytes', { type: 'file', id: 'a', data: new Uint8Array() }, 'data', /a string/],
    ['a BigInt', { type: 'data', id: 'a', name: 'n', data: { n: [1n] } }, 'data.n[0]', /JSON, found 1/],
    [
      'a class instance',
      { type: 'data', id: 'a', name: 'n', data: { when: new Date() } },
      'data.when',
      /plain JSON object/,
    ],
    ['NaN', { type: 'state-snapshot', state: NaN }, 'state', /finite/],
    ['a result without a status', { type: 'tool-result', toolCallId: 'c' }, 'status', /"ok" or "error" or "denied"/],
    [
      'content of a newer format',
      { type: 'message-snapshot', content: { format: 3, parts: [] } },
      'content.format',
      /expected 2, found 3/,
    ],
    ['an invalid time', { type: 'raw', dialect: 'x', value: null, at: 'now' }, 'at', /finite number/],
  ])('rejects %s and names the place', (_, event, path, message) => {
    expect(validateEvent(event)).toEqual({ path, message: expect.stringMatching(message) });
  });

  it('ignores unknown and undefined fields', () => {
    expect(validateEvent({ type: 'text-start', id: 'a', agentId: undefined, future: () => 1 })).toBeUndefined();
  });

  it('rejects values that are too deep or circular', () => {
    let deep: unknown = null;
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(validateEvent({ type: 'state-snapshot', state: deep })?.message).toMatch(/nested at most/);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(validateEvent({ type: 'state-snapshot', state: circle })?.message).toMatch(/nested at most/);
  });
});

it('rejects interjections that are nested too deeply', () => {
  let part: object = { type: 'text', text: 'x' };
  for (let depth = 0; depth < 20_000; depth++) part = { type: 'interjection', role: 'user', parts: [part] };
  expect(validateEvent({ type: 'interjection', id: 'i', role: 'user', parts: [part] })?.message).toMatch(
    /nested at most/,
  );
});

it('accepts values in a snapshot that are as deep as in the events', () => {
  let data: unknown = 0;
  for (let depth = 0; depth < 255; depth++) data = [data];
  expect(validateEvent({ type: 'data', id: 'd', name: 'n', data })).toBeUndefined();
  const content = { format: 2, parts: [{ type: 'data', id: 'd', data }] };
  expect(validateEvent({ type: 'message-snapshot', content })).toBeUndefined();
});

describe('readEvent', () => {
  it('returns an unknown type as raw', () => {
    const event = { type: 'hologram', at: 1, beams: [1] };
    expect(readEvent(event)).toEqual({ type: 'raw', dialect: 'canonical', value: event });
  });

  it('throws an upgrade hint for a snapshot of a newer format', () => {
    expect(() => readEvent({ type: 'message-snapshot', content: { format: 3, parts: [] } })).toThrow(
      /Upgrade Intertie/,
    );
  });

  it('throws the place for a known type in an invalid shape', () => {
    expect(() => readEvent({ type: 'text-delta', id: 'a' })).toThrow(/delta of "text-delta"/);
  });
});

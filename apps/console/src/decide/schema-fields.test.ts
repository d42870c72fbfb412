import { describe, expect, it } from 'vitest';
import { entryOf, formOf, valueOf } from './schema-fields.ts';

describe('a form of a schema', () => {
  const form = formOf({
    type: 'object',
    required: ['cityName', 'nights'],
    properties: {
      cityName: { type: 'string' },
      nights: { type: 'integer', default: 2 },
      breakfast: { type: 'boolean' },
      room: { enum: ['single', 'double'] },
      extras: { type: 'array', items: { type: 'string' } },
    },
  });

  it('has a control for each property', () => {
    expect(form.fields.map(({ label, type, isRequired }) => [label, type, isRequired])).toEqual([
      ['City name', 'text', true],
      ['Nights', 'integer', true],
      ['Breakfast', 'boolean', false],
      ['Room', 'choice', false],
      ['Extras', 'json', false],
    ]);
    expect(form.fields.map(entryOf)).toEqual(['', '2', 'false', '', '']);
  });

  it('makes the value, and leaves out what was left open', () => {
    expect(valueOf(form, { cityName: 'Bergen', nights: '3', breakfast: 'true', room: '1' })).toEqual({
      value: { cityName: 'Bergen', nights: 3, breakfast: true, room: 'double' },
    });
  });

  it('says which field is wrong', () => {
    expect(valueOf(form, { nights: '3' })).toEqual({ field: 'cityName', problem: 'City name is needed.' });
    expect(valueOf(form, { cityName: 'x', nights: '1.5' })).toMatchObject({ field: 'nights' });
    expect(valueOf(form, { cityName: 'x', nights: '1', extras: '[' })).toMatchObject({ field: 'extras' });
  });
});

describe('a form of no object', () => {
  it('is one field', () => {
    expect(valueOf(formOf({ type: 'string', title: 'Your name' }), { '': 'Ada' })).toEqual({ value: 'Ada' });
    expect(formOf({ type: 'number' }).fields[0]).toMatchObject({ label: 'Answer', type: 'number' });
  });

  it('takes words where nothing is said, and JSON where the schema is beyond a form', () => {
    expect(formOf(undefined).fields[0]).toMatchObject({ type: 'long-text' });
    expect(valueOf(formOf({ type: 'array' }), { '': '[1]' })).toEqual({ value: [1] });
  });

  it('knows choices by their constants', () => {
    const choice = formOf({ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] });
    expect(valueOf(choice, { '': '1' })).toEqual({ value: 'b' });
  });
});

import { describe, expect, it } from 'vitest';
import { getInitialEntry, createForm, parseEntries } from './schema-fields.ts';

describe('createForm for an object schema', () => {
  const form = createForm({
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

  it('creates one control per property', () => {
    expect(form.fields.map(({ label, type, isRequired }) => [label, type, isRequired])).toEqual([
      ['City name', 'text', true],
      ['Nights', 'integer', true],
      ['Breakfast', 'boolean', false],
      ['Room', 'choice', false],
      ['Extras', 'json', false],
    ]);
    expect(form.fields.map(getInitialEntry)).toEqual(['', '2', 'false', '', '']);
  });

  it('parses entries to a value and omits empty optional fields', () => {
    expect(parseEntries(form, { cityName: 'Bergen', nights: '3', breakfast: 'true', room: '1' })).toEqual({
      value: { cityName: 'Bergen', nights: 3, breakfast: true, room: 'double' },
    });
  });

  it('names the first invalid field', () => {
    expect(parseEntries(form, { nights: '3' })).toEqual({ field: 'cityName', problem: 'City name is required.' });
    expect(parseEntries(form, { cityName: 'x', nights: '1.5' })).toMatchObject({ field: 'nights' });
    expect(parseEntries(form, { cityName: 'x', nights: '1', extras: '[' })).toMatchObject({ field: 'extras' });
  });
});

describe('createForm for other schemas', () => {
  it('creates a single field for a schema that is not an object', () => {
    expect(parseEntries(createForm({ type: 'string', title: 'Your name' }), { '': 'Ada' })).toEqual({ value: 'Ada' });
    expect(createForm({ type: 'number' }).fields[0]).toMatchObject({ label: 'Answer', type: 'number' });
  });

  it('uses a text field without a schema and JSON for unsupported types', () => {
    expect(createForm(undefined).fields[0]).toMatchObject({ type: 'long-text' });
    expect(parseEntries(createForm({ type: 'array' }), { '': '[1]' })).toEqual({ value: [1] });
  });

  it('turns a union of constants into choices', () => {
    const choice = createForm({ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] });
    expect(parseEntries(choice, { '': '1' })).toEqual({ value: 'b' });
  });
});

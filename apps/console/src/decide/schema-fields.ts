import type { Json, JsonObject } from '@intertie/core';

/** One field of a form that a JSON schema asks for. */
export type Field = {
  name: string;
  label: string;
  description?: string;
  type: 'text' | 'long-text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';
  choices?: Json[];
  isRequired: boolean;
  initial?: Json;
};

/** A form: an object's fields, or (`name` is empty) one value. */
export type Form = { shape: 'object' | 'value'; fields: Field[] };

/** The form for a schema. What a form has no control for is written as JSON. */
export function formOf(schema: Json | undefined): Form {
  const { properties, required } = objectOf(schema);
  const fields = Object.entries(objectOf(properties));
  if (fields.length === 0) return { shape: 'value', fields: [fieldOf('', schema, true)] };
  const names = new Set(Array.isArray(required) ? required : []);
  return { shape: 'object', fields: fields.map(([name, inner]) => fieldOf(name, inner, names.has(name))) };
}

function fieldOf(name: string, schema: Json | undefined, isRequired: boolean): Field {
  const { type, title, description, format, maxLength, default: initial, ...rest } = objectOf(schema);
  const choices = Array.isArray(rest.enum) ? rest.enum : constantsOf(rest.oneOf ?? rest.anyOf);
  const label = typeof title === 'string' && title !== '' ? title : spaced(name) || 'Answer';
  const isLong = format === 'textarea' || (typeof maxLength === 'number' && maxLength > 200);
  return {
    name,
    label,
    type: choices ? 'choice' : controlOf(type, isLong, schema === undefined),
    isRequired,
    ...(typeof description === 'string' && { description }),
    ...(choices && { choices }),
    ...(initial !== undefined && { initial }),
  };
}

function controlOf(type: Json | undefined, isLong: boolean, isUnknown: boolean): Field['type'] {
  const name = Array.isArray(type) ? type.find((entry) => entry !== 'null') : type;
  if (name === 'string') return isLong ? 'long-text' : 'text';
  if (name === 'number' || name === 'integer' || name === 'boolean') return name;
  // Nothing is said of it: words are what a person would write.
  return isUnknown ? 'long-text' : 'json';
}

function constantsOf(options: Json | undefined): Json[] | undefined {
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const values = options.map((option) => objectOf(option).const);
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** The value that a form's entries make, or which field is wrong and why. */
export function valueOf(
  form: Form,
  entries: { readonly [name: string]: string },
): { value: Json } | { field: string; problem: string } {
  const value: JsonObject = {};
  for (const field of form.fields) {
    const read = readEntry(field, entries[field.name] ?? '');
    if (typeof read === 'string') return { field: field.name, problem: read };
    if (read.value !== undefined) value[field.name] = read.value;
  }
  return { value: form.shape === 'object' ? value : (value[''] ?? null) };
}

/** What an entry says; a text is what is wrong with it. */
function readEntry(field: Field, entry: string): { value?: Json } | string {
  const { type, label, isRequired, choices = [] } = field;
  if (type === 'boolean') return { value: entry === 'true' };
  if (entry.trim() === '') return isRequired ? `${label} is needed.` : {};
  switch (type) {
    case 'number':
    case 'integer': {
      const number = Number(entry);
      if (!Number.isFinite(number)) return `${label} is a number.`;
      return type === 'integer' && !Number.isInteger(number) ? `${label} is a whole number.` : { value: number };
    }
    case 'choice':
      return { value: choices[Number(entry)] ?? null };
    case 'json':
      try {
        return { value: JSON.parse(entry) as Json };
      } catch (error) {
        return `${label} is no JSON: ${(error as Error).message}`;
      }
    default:
      return { value: entry };
  }
}

/** What a field shows before anything is entered. */
export function entryOf({ type, initial, choices = [] }: Field): string {
  if (type === 'boolean') return String(initial === true);
  if (initial === undefined) return '';
  if (type === 'choice')
    return String(choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(initial)));
  return typeof initial === 'string' ? initial : JSON.stringify(initial);
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** `dueDate` and `due_date` as words. */
function spaced(name: string): string {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

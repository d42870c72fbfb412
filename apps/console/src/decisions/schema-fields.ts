import type { Json, JsonObject } from '@intertie/core';

/** One field of a form for a JSON schema. */
export type Field = {
  name: string;
  label: string;
  description?: string;
  type: 'text' | 'long-text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';
  choices?: Json[];
  isRequired: boolean;
  initial?: Json;
};

/** Form for an object or, with a single field whose `name` is empty, for any other value. */
export type Form = { shape: 'object' | 'value'; fields: Field[] };

/** Creates the form for a schema. Types without a control are entered as JSON. */
export function createForm(schema: Json | undefined): Form {
  const { properties, required } = asObject(schema);
  const fields = Object.entries(asObject(properties));
  if (fields.length === 0) return { shape: 'value', fields: [createField('', schema, true)] };
  const names = new Set(Array.isArray(required) ? required : []);
  return { shape: 'object', fields: fields.map(([name, inner]) => createField(name, inner, names.has(name))) };
}

function createField(name: string, schema: Json | undefined, isRequired: boolean): Field {
  const { type, title, description, format, maxLength, default: initial, ...rest } = asObject(schema);
  const choices = Array.isArray(rest.enum) ? rest.enum : findConstants(rest.oneOf ?? rest.anyOf);
  const label = typeof title === 'string' && title !== '' ? title : toLabel(name) || 'Answer';
  const isLong = format === 'textarea' || (typeof maxLength === 'number' && maxLength > 200);
  return {
    name,
    label,
    type: choices ? 'choice' : chooseControl(type, isLong, schema === undefined),
    isRequired,
    ...(typeof description === 'string' && { description }),
    ...(choices && { choices }),
    ...(initial !== undefined && { initial }),
  };
}

function chooseControl(type: Json | undefined, isLong: boolean, hasNoSchema: boolean): Field['type'] {
  const name = Array.isArray(type) ? type.find((entry) => entry !== 'null') : type;
  if (name === 'string') return isLong ? 'long-text' : 'text';
  if (name === 'number' || name === 'integer' || name === 'boolean') return name;
  // Without a schema, free text is the most likely answer.
  return hasNoSchema ? 'long-text' : 'json';
}

function findConstants(options: Json | undefined): Json[] | undefined {
  if (!Array.isArray(options) || options.length === 0) return undefined;
  const values = options.map((option) => asObject(option).const);
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Parses the entries of a form to a value, or returns the first invalid field. */
export function parseEntries(
  form: Form,
  entries: { readonly [name: string]: string },
): { value: Json } | { field: string; problem: string } {
  const value: JsonObject = {};
  for (const field of form.fields) {
    const parsed = parseEntry(field, entries[field.name] ?? '');
    if (typeof parsed === 'string') return { field: field.name, problem: parsed };
    if (parsed.value !== undefined) value[field.name] = parsed.value;
  }
  return { value: form.shape === 'object' ? value : (value[''] ?? null) };
}

/** Returns the value of an entry, or an error message. */
function parseEntry(field: Field, entry: string): { value?: Json } | string {
  const { type, label, isRequired, choices = [] } = field;
  if (type === 'boolean') return { value: entry === 'true' };
  if (entry.trim() === '') return isRequired ? `${label} is required.` : {};
  switch (type) {
    case 'number':
    case 'integer': {
      const number = Number(entry);
      if (!Number.isFinite(number)) return `${label} must be a number.`;
      return type === 'integer' && !Number.isInteger(number) ? `${label} must be an integer.` : { value: number };
    }
    case 'choice':
      return { value: choices[Number(entry)] ?? null };
    case 'json':
      try {
        return { value: JSON.parse(entry) as Json };
      } catch (error) {
        return `${label} must be valid JSON: ${(error as Error).message}`;
      }
    default:
      return { value: entry };
  }
}

/** Returns the initial entry of a field. */
export function getInitialEntry({ type, initial, choices = [] }: Field): string {
  if (type === 'boolean') return String(initial === true);
  if (initial === undefined) return '';
  if (type === 'choice')
    return String(choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(initial)));
  return typeof initial === 'string' ? initial : JSON.stringify(initial);
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** Converts `dueDate` or `due_date` to `Due date`. */
function toLabel(name: string): string {
  const text = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

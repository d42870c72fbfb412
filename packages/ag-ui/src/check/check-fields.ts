import { EventSchemas } from '@ag-ui/core/schemas';
import type { Complain } from './ag-ui-rules.ts';
import { prefixedName } from '../shared/custom-name.ts';
import { isFields, asText, type Fields } from '../shared/read-fields.ts';

const versionForm = /^\d+\.\d+$/;

/** Checks one event on its own: its schema and conventions. */
export function checkFields(item: Fields, complain: Complain): void {
  if (item.type === 'STATE_DELTA' && item.delta === undefined && Array.isArray(item.patch)) {
    return complain('state-delta-field', 'The patch is in `patch`.');
  }
  if (item.type === 'ACTIVITY_DELTA' && item.patch === undefined && Array.isArray(item.delta)) {
    return complain('activity-delta-field', 'The patch is in `delta`.');
  }
  checkConventions(item, complain);
  const parsed = EventSchemas.safeParse(item);
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  complain('shape', `${String(item.type)}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

function checkConventions(item: Fields, complain: Complain): void {
  const type = String(item.type);
  if (item.delta === '') complain('empty-delta', `${type} has an empty delta.`);
  const unknown = Object.keys(item).filter((key) => !knownFields().get(type)?.has(key));
  if (unknown.length > 0) complain('unknown-field', `${type} has ${unknown.join(', ')}.`);
  if (isFields(item.metadata) && Object.hasOwn(item.metadata, 'ag-ui')) {
    complain('metadata-key', `${type} uses the key.`);
  }
  if (type === 'CUSTOM' && !prefixedName.test(asText(item.name) ?? 'no.name')) {
    complain('custom-name', `${String(item.name)} has no prefix.`);
  }
  if (type === 'RUN_STARTED' && !versionForm.test(asText(item.protocolVersion) ?? '')) {
    complain('protocol-version', item.protocolVersion === undefined ? 'It is missing.' : 'It is not a version.');
  }
}

let fieldsByType: ReadonlyMap<string, ReadonlySet<string>> | undefined;

/** Fields by event type, from the shapes of the schemas: the schemas pass unknown fields, so parsing does not report them. */
function knownFields(): ReadonlyMap<string, ReadonlySet<string>> {
  fieldsByType ??= new Map(
    EventSchemas.options.map(({ shape }) => [[...shape.type.values][0]!, new Set(Object.keys(shape))]),
  );
  return fieldsByType;
}

import type { ItemClassifier, ItemFamily } from '@intertie/core/internal';
import { compactJson, shortenIds } from './compact-json.ts';

/** Item of any protocol as a table row shows it: its type and a short text. */
export type Described = { type: string; family: ItemFamily; text: string };

type Fields = { [key: string]: unknown };

/** Fields for the text, most informative first. The details show all fields as JSON. */
const fieldsByRelevance = [
  'delta',
  'text',
  'toolName',
  'toolCallName',
  'tool_name',
  'nodeId',
  'name',
  'agentName',
  'subagentName',
  'stepName',
  'kind',
  'activityType',
  'role',
  'to',
  'outcome',
  'status',
  'level',
  'message',
  'description',
  'question',
  'input',
  'args',
  'output',
  'content',
  'result',
  'errorText',
  'error',
  'reason',
  'approved',
  'value',
  'finishReason',
  'data',
  'state',
  'snapshot',
  'patch',
  'metadata',
  'messageMetadata',
  'response',
  'title',
  'url',
  'filename',
  'runId',
  'messageId',
  'stepId',
  'agentId',
  'toolCallId',
  'id',
] as const;
const maxFields = 3;

/** Describes an item. Unknown kinds belong to the family `data`. */
export function describeItem(item: unknown, { findFamily }: ItemClassifier): Described {
  const type = getItemKind(item);
  if (typeof item !== 'object' || item === null) return { type, family: 'data', text: compactJson(item) };
  return { type, family: findFamily(type) ?? 'data', text: summarize(unwrapSSE(item as Fields)) };
}

/** Returns the name that an item of any protocol has for its kind. */
export function getItemKind(item: unknown): string {
  if (typeof item !== 'object' || item === null) return typeof item;
  const { type, event, kind } = item as Fields;
  for (const name of [type, event, kind]) if (typeof name === 'string') return name;
  return 'frame';
}

/** Returns the data of a server-sent event, which is JSON text or an object; other items unchanged. */
function unwrapSSE(fields: Fields): Fields {
  if (typeof fields.event !== 'string' || fields.data === undefined) return fields;
  const data = typeof fields.data === 'string' ? tryParse(fields.data) : fields.data;
  if (typeof data !== 'object' || data === null) return { value: data };
  const { extra_data: extra, ...rest } = data as Fields;
  return typeof extra === 'object' && extra !== null ? { ...rest, ...(extra as Fields) } : rest;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function summarize(fields: Fields): string {
  const texts: string[] = [];
  for (const key of fieldsByRelevance) {
    const value = fields[key];
    if (value === undefined || value === null || texts.length === maxFields) continue;
    // An id is shown only if there is nothing else.
    if (texts.length > 0 && (key === 'id' || key.endsWith('Id'))) continue;
    texts.push(formatField(key, value));
  }
  return texts.join('  ');
}

function formatField(key: string, value: unknown): string {
  if (typeof value === 'string') return key === 'delta' || key === 'text' ? JSON.stringify(value) : toOneLine(value);
  if (key === 'to' && Array.isArray(value)) return `to ${value.join(', ')}`;
  return compactJson(value);
}

const toOneLine = (text: string): string => shortenIds(text.slice(0, 200)).replaceAll(/\s+/g, ' ').trim();

import { compactJson, shortIds } from './compact-json.ts';
import { familyOf, type Family } from './event-family.ts';

/** An item of any protocol as a row shows it: the name of its type, and what it says. */
export type Described = { type: string; family: Family; text: string };

type Fields = { [key: string]: unknown };

/** The fields that say most, the most telling first. What stands beside them is in the JSON. */
const telling = [
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
const enough = 3;

export function describeItem(item: unknown): Described {
  if (typeof item !== 'object' || item === null) return { type: typeof item, family: 'data', text: compactJson(item) };
  const fields = item as Fields;
  const type = nameOf(fields);
  return { type, family: familyOf(type), text: textOf(framed(fields)) };
}

function nameOf({ type, event, kind }: Fields): string {
  for (const name of [type, event, kind]) if (typeof name === 'string') return name;
  return 'frame';
}

/** A frame of server-sent events says all it has in its data, as text or parsed. */
function framed(fields: Fields): Fields {
  if (typeof fields.event !== 'string' || fields.data === undefined) return fields;
  const data = typeof fields.data === 'string' ? parsed(fields.data) : fields.data;
  if (typeof data !== 'object' || data === null) return { value: data };
  const { extra_data: extra, ...rest } = data as Fields;
  return typeof extra === 'object' && extra !== null ? { ...rest, ...(extra as Fields) } : rest;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textOf(fields: Fields): string {
  const said: string[] = [];
  for (const key of telling) {
    const value = fields[key];
    if (value === undefined || value === null || said.length === enough) continue;
    // An id beside something that is said is noise.
    if (said.length > 0 && key.endsWith('Id')) continue;
    if (key === 'id' && said.length > 0) continue;
    said.push(worded(key, value));
  }
  return said.length > 0 ? said.join('  ') : '';
}

function worded(key: string, value: unknown): string {
  if (typeof value === 'string') return key === 'delta' || key === 'text' ? JSON.stringify(value) : oneLine(value);
  if (key === 'to' && Array.isArray(value)) return `to ${value.join(', ')}`;
  return compactJson(value);
}

const oneLine = (text: string): string => shortIds(text.slice(0, 200)).replaceAll(/\s+/g, ' ').trim();

import type { ResumeEntry } from '@ag-ui/core';
import { toJson } from '@intertie/core';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { decodeInterruptId } from '../shared/interrupt.ts';
import { asFields, asNonEmptyText, isFields } from '../shared/read-fields.ts';
import { RequestError } from './read-run-agent-input.ts';

/**
 * Returns the input with the answer of a LangGraph client, `forwardedProps.command.resume`, as `resume` entries. `interruptEvent`
 * of the command names the interrupt; without it, the answer is for the only open one, or an object by interrupt id.
 */
export async function withCommandResume(
  input: AGUIRunInput,
  listOpenIds: () => Promise<string[]>,
): Promise<AGUIRunInput> {
  const command = asFields(asFields(input.forwardedProps).command);
  if (!('resume' in command)) return input;
  const resume = findAnswers(command, await listOpenIds()).map(([interruptId, value]) => toEntry(interruptId, value));
  return { ...input, resume: [...(input.resume ?? []), ...resume] };
}

function findAnswers(
  { resume, interruptEvent }: { readonly [key: string]: unknown },
  openIds: readonly string[],
): Array<[string, unknown]> {
  const event = typeof interruptEvent === 'string' ? parseText(interruptEvent) : interruptEvent;
  const named = asNonEmptyText(asFields(asFields(event).value ?? event).id) ?? asNonEmptyText(asFields(event).id);
  if (named !== undefined) return [[named, resume]];
  const answers = isFields(resume) ? Object.entries(resume).filter(([id]) => openIds.includes(id)) : [];
  if (answers.length > 0) return answers;
  const [only, ...others] = openIds;
  if (only !== undefined && others.length === 0) return [[only, resume]];
  throw new RequestError(
    `\`forwardedProps.command.resume\` is one answer, but the thread has ${openIds.length} open interrupts. ` +
      'Send `command.interruptEvent` with the value of the interrupt, or an object with one answer per interrupt id.',
    422,
  );
}

function toEntry(interruptId: string, value: unknown): ResumeEntry {
  const isApproval = decodeInterruptId(interruptId).kind === 'approval';
  const payload = isApproval && typeof value === 'string' ? parseApproval(value) : value;
  if (payload === undefined || payload === null) return { interruptId, status: 'resolved' };
  return { interruptId, status: 'resolved', payload: toJson(payload) };
}

/** LangGraph clients answer with text: `yes`, or JSON. */
function parseApproval(text: string): unknown {
  if (/^\s*(?:y|yes|ok|approved?)\s*$/i.test(text)) return true;
  const parsed = parseText(text);
  return parsed === null ? false : parsed;
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

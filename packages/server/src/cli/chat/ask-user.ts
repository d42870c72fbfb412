import type { Answer, Json } from '@intertie/core';
import type { DecisionRequest, ToolAnswer } from '@intertie/core/store';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import type { Paint } from '../paint.ts';
import { printable } from '../printable.ts';
import type { ChatTerminal } from './chat-terminal.ts';
import type { ChatView } from './chat-view.ts';

/** Asks the user for every decision that a run waits for. Undefined if the user exits without an answer. */
export async function askUser(
  decisions: readonly DecisionRequest[],
  { terminal, view, paint, describe }: AskOptions,
): Promise<Array<Answer | ToolAnswer> | undefined> {
  const answers: Array<Answer | ToolAnswer> = [];
  for (const decision of decisions) {
    const answer = await askOne(decision);
    if (!answer) return undefined;
    answers.push(answer);
  }
  return answers;

  async function askOne(decision: DecisionRequest): Promise<Answer | ToolAnswer | undefined> {
    const mark = paint('yellow', '?');
    if (decision.kind === 'client-tool') {
      const input = printable(JSON.stringify(decision.input) ?? '');
      view.note(
        `${mark} The client must run ${paint('bold', printable(decision.toolName))} ${paint('dim', input)}. Enter its result.`,
      );
      const line = await terminal.ask(paint('yellow', '  result › '));
      return line === undefined
        ? undefined
        : { toolCallId: decision.toolCallId, status: 'ok', output: parseJsonOrText(line) };
    }
    const { question, kind } = decision;
    const { questionId, message, reason, schema } = question;
    const text = message ?? reason;
    if (kind === 'approval') {
      const call = describe(decision.toolCallId);
      view.note(`${mark} ${printable(text ?? 'Approve?')}${call === undefined ? '' : ` ${call}`}`);
      return askApproval(questionId);
    }
    view.note(`${mark} ${printable(text ?? 'Please answer.')}`);
    return askValue(questionId, schema);
  }

  async function askApproval(questionId: string): Promise<Answer | undefined> {
    for (;;) {
      const line = await terminal.ask(paint('yellow', '  yes, no, or a reason to decline › '));
      if (line === undefined) return undefined;
      const reply = line.trim();
      if (/^(?:y|yes|ok)$/i.test(reply)) return { questionId, approved: true };
      if (/^(?:n|no)$/i.test(reply)) return { questionId, approved: false };
      if (reply !== '') return { questionId, approved: false, reason: reply };
    }
  }

  async function askValue(questionId: string, schema: Json | undefined): Promise<Answer | undefined> {
    const choices = getChoices(schema);
    for (const [index, choice] of choices.entries()) {
      view.note(`    ${index + 1}  ${printable(typeof choice === 'string' ? choice : JSON.stringify(choice))}`);
    }
    const line = await terminal.ask(paint('yellow', choices.length > 0 ? '  number or text › ' : '  answer › '));
    if (line === undefined) return undefined;
    const choice = choices[Number(line.trim()) - 1];
    return { questionId, value: choice ?? parseValue(line, schema) };
  }
}

export interface AskOptions {
  terminal: ChatTerminal;
  view: ChatView;
  paint: Paint;
  /** Formats a tool call for the user. */
  describe: (toolCallId: string | undefined) => string | undefined;
}

function getChoices(schema: Json | undefined): Json[] {
  const { enum: choices } = asFields(schema);
  return Array.isArray(choices) ? (choices as Json[]) : [];
}

/** Parses JSON only if the schema asks for something other than a string. */
function parseValue(line: string, schema: Json | undefined): Json {
  const type = asNonEmptyText(asFields(schema).type);
  return type === undefined || type === 'string' ? line : parseJsonOrText(line);
}

function parseJsonOrText(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return line;
  }
}

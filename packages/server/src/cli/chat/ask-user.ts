import type { Answer, Json } from '@intertie/core';
import type { DecisionRequest, ToolAnswer } from '@intertie/core/store';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import type { Paint } from '../paint.ts';
import { printable } from '../printable.ts';
import type { ChatTerminal } from './chat-terminal.ts';
import type { ChatView } from './chat-view.ts';

/** Asks for all that a run waits for, one after the other. Undefined: the person has left without an answer. */
export async function askPerson(
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
        `${mark} ${paint('bold', printable(decision.toolName))} ${paint('dim', input)} is yours to run. What is its result?`,
      );
      const line = await terminal.ask(paint('yellow', '  result › '));
      return line === undefined
        ? undefined
        : { toolCallId: decision.toolCallId, status: 'ok', output: jsonOrText(line) };
    }
    const { question, kind } = decision;
    const { questionId, message, reason, schema } = question;
    const said = message ?? reason;
    if (kind === 'approval') {
      const call = describe(decision.toolCallId);
      const asked = said ?? (call === undefined ? 'May it go on?' : 'May it run?');
      view.note(`${mark} ${printable(asked)}${call === undefined ? '' : ` ${call}`}`);
      return askApproval(questionId);
    }
    view.note(`${mark} ${printable(said ?? 'What do you say?')}`);
    return askValue(questionId, schema);
  }

  async function askApproval(questionId: string): Promise<Answer | undefined> {
    for (;;) {
      const line = await terminal.ask(paint('yellow', '  yes, no, or why not › '));
      if (line === undefined) return undefined;
      const words = line.trim();
      if (/^(?:y|yes|ok)$/i.test(words)) return { questionId, approved: true };
      if (/^(?:n|no)$/i.test(words)) return { questionId, approved: false };
      if (words !== '') return { questionId, approved: false, reason: words };
    }
  }

  async function askValue(questionId: string, schema: Json | undefined): Promise<Answer | undefined> {
    const choices = choicesOf(schema);
    for (const [index, choice] of choices.entries()) {
      view.note(`    ${index + 1}  ${printable(typeof choice === 'string' ? choice : JSON.stringify(choice))}`);
    }
    const line = await terminal.ask(paint('yellow', choices.length > 0 ? '  number or words › ' : '  answer › '));
    if (line === undefined) return undefined;
    const choice = choices[Number(line.trim()) - 1];
    return { questionId, value: choice ?? valueOf(line, schema) };
  }
}

export interface AskOptions {
  terminal: ChatTerminal;
  view: ChatView;
  paint: Paint;
  /** A call, for people. */
  describe: (toolCallId: string | undefined) => string | undefined;
}

function choicesOf(schema: Json | undefined): Json[] {
  const { enum: choices } = asFields(schema);
  return Array.isArray(choices) ? (choices as Json[]) : [];
}

/** A text is a text, unless something else was asked for. */
function valueOf(line: string, schema: Json | undefined): Json {
  const type = asNonEmptyText(asFields(schema).type);
  return type === undefined || type === 'string' ? line : jsonOrText(line);
}

function jsonOrText(line: string): Json {
  try {
    return JSON.parse(line) as Json;
  } catch {
    return line;
  }
}

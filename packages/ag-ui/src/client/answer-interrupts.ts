import type { ResumeEntry } from '@ag-ui/core';
import type { Answer, Json, JsonObject, MessageContent, Question, RunInput } from '@intertie/core';
import { encodeInterruptId } from '../shared/interrupt.ts';
import { asFields, asNonEmptyText, defined, isFields } from '../shared/read-fields.ts';

type Answered = { question: Question; answer: Answer };

/** Answers of a run in the shapes in which the agent asked: `resume` of AG-UI 1.0, or the `command` of LangGraph and Mastra. */
export type InterruptAnswers = { resume: ResumeEntry[]; command?: JsonObject };

/** Converts the answers to the questions of the message that a run continues. */
export function answerInterrupts(run: RunInput): InterruptAnswers {
  const answered = run.message ? findAnswered(run.message, run.answers) : [];
  const commands = answered.flatMap((one) => {
    const command = one.question.providerMetadata?.['ag-ui']?.command;
    return isFields(command) ? [{ ...one, command }] : [];
  });
  const resume = answered.filter((one) => !commands.some(({ question }) => question === one.question));
  return { resume: resume.map(toResumeEntry), ...(commands.length > 0 && { command: toCommand(commands) }) };
}

/** Returns the questions that have been answered since the last run. */
function findAnswered({ parts, runs }: MessageContent, answers: RunInput['answers']): Answered[] {
  const given = new Map(
    answers.flatMap((answer) => ('questionId' in answer ? [[answer.questionId, answer] as const] : [])),
  );
  const last = runs?.at(-1);
  const waitingFor = last?.outcome === 'paused' ? last.waitingFor : undefined;
  const isAwaited = (questionId: string): boolean =>
    waitingFor?.some((waiting) => waiting.type === 'question' && waiting.questionId === questionId) ?? true;
  return parts.flatMap((part): Answered[] => {
    const question = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
    if (!question || (part.type === 'tool-invocation' && part.state !== 'call')) return [];
    // Without a store, only new answers are separate, and the others belong to earlier runs.
    const isNew = given.size === 0 && isAwaited(question.questionId);
    const answer = given.get(question.questionId) ?? (isNew ? question.answer : undefined);
    return answer ? [{ question, answer }] : [];
  });
}

function toResumeEntry({ question, answer }: Answered): ResumeEntry {
  const wire = question.providerMetadata?.['ag-ui']?.interruptId;
  const interruptId = typeof wire === 'string' ? wire : encodeInterruptId(question);
  if (answer.cancelled) return { interruptId, status: 'cancelled' };
  const payload = toPayload(answer);
  return { interruptId, status: 'resolved', ...(payload !== undefined && payload !== null && { payload }) };
}

function toPayload({ approved, value, reason }: Answer): Json | undefined {
  return approved === undefined ? value : { approved, ...defined({ reason }) };
}

/** Returns the command that resumes the agent. It resumes several interrupts of LangGraph by their ids. */
function toCommand(commands: ReadonlyArray<Answered & { command: JsonObject }>): JsonObject {
  const suspended = commands.find(({ command }) => command.interruptEvent !== undefined);
  if (suspended) return { resume: toCommandValue(suspended.answer), ...suspended.command };
  const byId = commands.flatMap(({ command, answer }) => {
    const id = asNonEmptyText(command.interruptId);
    return id === undefined ? [] : [[id, toCommandValue(answer)] as const];
  });
  if (commands.length > 1 && byId.length === commands.length) return { resume: Object.fromEntries(byId) };
  return { resume: toCommandValue(commands[0]!.answer) };
}

/** Both agents ignore a resume without a value, and Mastra reads `false` as a refusal. */
function toCommandValue(answer: Answer): Json {
  return answer.cancelled ? false : (toPayload(answer) ?? true);
}

/** Adds the command to the forwarded props. */
export function withCommand(forwardedProps: unknown, command: JsonObject | undefined): unknown {
  if (command === undefined) return forwardedProps;
  const props = asFields(forwardedProps);
  return { ...props, command: { ...asFields(props.command), ...command } };
}

import type { ResumeEntry } from '@ag-ui/core';
import type { Answer, Json, MessageContent, OnLoss, RunInput } from '@intertie/core';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { decodeInterruptId, decodeResume } from '../shared/interrupt.ts';
import { readAGUIMessages } from './read-ag-ui-messages.ts';
import { defined, isNothing } from '../shared/read-fields.ts';

export interface RunOfInputOptions {
  generateId: () => string;
  now: () => number;
  onLoss: OnLoss;
}

/**
 * The run that a client asks for, where nobody but the client has the history. A user's message last: a new answer. An
 * agent's message last: that answer goes on, with the results that the client gave and the interrupts that it resolved.
 */
export function runOfInput(input: AGUIRunInput, { generateId, now, onLoss }: RunOfInputOptions): RunInput {
  const { threadId, runId, parentRunId } = input;
  const startedAt = now();
  const messages = readAGUIMessages(input.messages, { threadId, createdAt: new Date(startedAt), onLoss });
  const run: RunInput = {
    runId,
    threadId,
    messageId: '',
    startedAt,
    history: messages,
    answers: [],
    ...contextOfInput(input),
    ...defined({ parentRunId, state: (input.state ?? undefined) as Json | undefined }),
  };
  const last = messages.at(-1);
  const isAnswer = last?.role === 'assistant';
  // An agent may have asked before it said anything: then there is no message of its own.
  const said: MessageContent = isAnswer ? last.content : { format: 2, parts: [] };
  const { message, answers } = withAnswers(said, input.resume ?? [], onLoss);
  const messageId = isAnswer ? last.id : generateId();
  const parentMessageId = isAnswer ? last.parentId : last?.id;
  const begun = { ...run, messageId, ...defined({ parentMessageId }) };
  if (!isAnswer && answers.length === 0) return begun;
  const history = isAnswer ? messages.slice(0, -1) : messages;
  return { ...begun, history, message, answers, resumes: parentRunId ?? messageId };
}

/** What the client offers to the run: tools of its own, what the model should know, and what is for the runtime alone. */
export function contextOfInput({
  tools = [],
  context = [],
  forwardedProps,
}: AGUIRunInput): Pick<RunInput, 'tools' | 'context' | 'forwardedProps'> {
  const offered = tools.map(({ name, description, parameters }) =>
    parameters === undefined ? { name, description } : { name, description, inputSchema: parameters as Json },
  );
  return { tools: offered, context, ...(!isNothing(forwardedProps) && { forwardedProps: forwardedProps as Json }) };
}

/** The questions come back in the ids of the interrupts that they were, and are put where they stood. */
function withAnswers(
  content: MessageContent,
  resume: readonly ResumeEntry[],
  onLoss: OnLoss,
): { message: MessageContent; answers: Answer[] } {
  const parts = [...content.parts];
  const answers: Answer[] = [];
  for (const entry of resume) {
    const question = decodeInterruptId(entry.interruptId);
    const { toolCallId } = question;
    const index = parts.findIndex((part) => part.type === 'tool-invocation' && part.toolCallId === toolCallId);
    const asked = parts[index];
    if (toolCallId === undefined) parts.push({ type: 'question', ...question });
    else if (asked?.type === 'tool-invocation') parts[index] = { ...asked, approval: question };
    else {
      const why = 'It answers a question about a call that is not in the messages.';
      onLoss({ kind: 'repaired', what: 'resume', why, id: entry.interruptId });
      continue;
    }
    answers.push(decodeResume(entry, question));
  }
  return { message: { ...content, parts }, answers };
}

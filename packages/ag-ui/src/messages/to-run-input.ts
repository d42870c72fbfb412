import type { ResumeEntry } from '@ag-ui/core';
import type { Answer, Json, MessageContent, OnLoss, RunInput } from '@intertie/core';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { decodeInterruptId, decodeResume } from '../shared/interrupt.ts';
import { readAGUIMessages } from './read-ag-ui-messages.ts';
import { defined, isEmptyValue } from '../shared/read-fields.ts';

export interface ToRunInputOptions {
  generateId: () => string;
  now: () => number;
  onLoss: OnLoss;
}

/**
 * Converts a request to a run whose history comes from the client alone. After a user message, the run starts a new answer. After
 * an agent's message, it continues that answer with the client's tool results and resolved interrupts.
 */
export function toRunInput(input: AGUIRunInput, { generateId, now, onLoss }: ToRunInputOptions): RunInput {
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
    ...toRunContext(input),
    ...defined({ parentRunId, state: (input.state ?? undefined) as Json | undefined }),
  };
  const last = messages.at(-1);
  const isAnswer = last?.role === 'assistant';
  // An agent may have asked before it emitted anything. Then the history contains no message of its own.
  const content: MessageContent = isAnswer ? last.content : { format: 2, parts: [] };
  const { message, answers } = withAnswers(content, input.resume ?? [], onLoss);
  const messageId = isAnswer ? last.id : generateId();
  const parentMessageId = isAnswer ? last.parentId : last?.id;
  const started = { ...run, messageId, ...defined({ parentMessageId }) };
  if (!isAnswer && answers.length === 0) return started;
  const history = isAnswer ? messages.slice(0, -1) : messages;
  return { ...started, history, message, answers, resumes: parentRunId ?? messageId };
}

/** Reads the tools, the context for the model, and the forwarded props for the runtime. */
export function toRunContext({
  tools = [],
  context = [],
  forwardedProps,
}: AGUIRunInput): Pick<RunInput, 'tools' | 'context' | 'forwardedProps'> {
  const clientTools = tools.map(({ name, description, parameters }) =>
    parameters === undefined ? { name, description } : { name, description, inputSchema: parameters as Json },
  );
  return {
    tools: clientTools,
    context,
    ...(!isEmptyValue(forwardedProps) && { forwardedProps: forwardedProps as Json }),
  };
}

/** Restores the questions from the ids of their interrupts, and inserts them into the message. */
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
    const part = parts[index];
    if (toolCallId === undefined) parts.push({ type: 'question', ...question });
    else if (part?.type === 'tool-invocation') parts[index] = { ...part, approval: question };
    else {
      const why = 'It answers a question about a call that is not in the messages.';
      onLoss({ kind: 'repaired', what: 'resume', why, id: entry.interruptId });
      continue;
    }
    answers.push(decodeResume(entry, question));
  }
  return { message: { ...content, parts }, answers };
}

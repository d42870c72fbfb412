import type { ResumeEntry } from '@ag-ui/core';
import { toAiSdkMessages, type ToAiSdkMessagesOptions } from '@intertie/ai-sdk';
import { applyAnswer, type CanonicalMessage } from '@intertie/core';
import type { ModelMessage } from 'ai';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { toRunInput } from './to-run-input.ts';

export interface FromAGUIMessagesOptions extends Pick<ToAiSdkMessagesOptions, 'provider' | 'version' | 'onLoss'> {
  /** Answers to the interrupts of the last run, from the client's request. */
  resume?: ResumeEntry[];
}

/**
 * Converts AG-UI messages to messages for `streamText`, valid for every provider, with files and signed reasoning. With `resume`,
 * an approved tool call is executed before the model is called again.
 */
export function fromAGUIMessages(messages: readonly object[], options: FromAGUIMessagesOptions = {}): ModelMessage[] {
  const { resume = [], ...rest } = options;
  const { onLoss = () => undefined } = options;
  const input: AGUIRunInput = { threadId: '', runId: '', messages: messages as never, resume };
  const run = toRunInput(input, { generateId: () => '', now: () => 0, onLoss });
  if (run.message === undefined) return toAiSdkMessages(run.history, rest);
  const last: CanonicalMessage = {
    id: run.messageId,
    threadId: '',
    role: 'assistant',
    type: 'text',
    content: run.answers.reduce(applyAnswer, run.message),
    createdAt: new Date(0),
  };
  return toAiSdkMessages([...run.history, last], { ...rest, continues: run.messageId });
}

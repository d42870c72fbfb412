import type { ResumeEntry } from '@ag-ui/core';
import { toAiSdkMessages, type ToAiSdkMessagesOptions } from '@intertie/ai-sdk';
import { applyAnswer, type CanonicalMessage } from '@intertie/core';
import type { ModelMessage } from 'ai';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { runOfInput } from './read-run-input.ts';

export interface FromAGUIMessagesOptions extends Pick<ToAiSdkMessagesOptions, 'provider' | 'version' | 'onLoss'> {
  /** What the client has answered to the interrupts of the last run, as its request says. */
  resume?: ResumeEntry[];
}

/**
 * AG-UI messages as the messages of `streamText`: every provider takes them, files and reasoning with its signatures included.
 * With `resume`, an approval that was given is carried out before the model is asked again.
 */
export function fromAGUIMessages(messages: readonly object[], options: FromAGUIMessagesOptions = {}): ModelMessage[] {
  const { resume = [], ...more } = options;
  const { onLoss = () => undefined } = options;
  const input: AGUIRunInput = { threadId: '', runId: '', messages: messages as never, resume };
  const run = runOfInput(input, { generateId: () => '', now: () => 0, onLoss });
  if (run.message === undefined) return toAiSdkMessages(run.history, more);
  const last: CanonicalMessage = {
    id: run.messageId,
    threadId: '',
    role: 'assistant',
    type: 'text',
    content: run.answers.reduce(applyAnswer, run.message),
    createdAt: new Date(0),
  };
  return toAiSdkMessages([...run.history, last], { ...more, continues: run.messageId });
}

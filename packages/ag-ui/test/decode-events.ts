import { compose, foldEvents, seal, transcode, type AgentEvent, type Loss, type RunInput } from '@intertie/core';
import { createAGUIDecoder } from '../src/decode/decode-ag-ui.ts';
import { runInput } from '../../core/test/run-input.ts';

export const run: RunInput = runInput({ runId: 'r', threadId: 't', messageId: 'm', tools: [{ name: 'locate' }] });
export const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' };
export const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' };

export type Decoded = { events: AgentEvent[]; parts: unknown[]; losses: Loss[] };

/** Decodes the events after RUN_STARTED. `sent`: ids of the messages that the agent was sent. */
export function decode(events: object[], sent: string[] = []): Decoded {
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  const decoded = transcode(compose(createAGUIDecoder(run, { sent, onLoss }), seal(run, onLoss)), [started, ...events]);
  return { events: decoded, parts: foldEvents(decoded)?.content.parts ?? [], losses };
}

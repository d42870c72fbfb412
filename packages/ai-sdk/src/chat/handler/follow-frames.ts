import { unfold, type AgentEvent, type CanonicalMessage, type DurableRun } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import { RunFrames, type RunFramesOptions } from './run-frames.ts';
import { doneFrame } from '../../ui-message-stream/sse/ui-message-sse.ts';
import { writeSSE } from '../../ui-message-stream/sse/write-sse.ts';

export interface FollowFramesOptions extends RunFramesOptions {
  keepAliveMs: number;
  /** The message as it is stored, for a run whose log is not kept any more. */
  message: () => Promise<CanonicalMessage | null>;
}

/**
 * A run as the bytes of its message, to the end, however long that takes. A reader that leaves leaves the run alone. Where
 * the run cannot be followed to its end, the stream errors: a clean end would be taken for that of the message.
 */
export function followFrames(run: DurableRun, options: FollowFramesOptions): ReadableStream<Uint8Array> {
  const { keepAliveMs, message, ...rest } = options;
  const frames = new RunFrames(rest);
  let reader: ReadableStreamDefaultReader<Followed> | undefined;

  const see = async (followed: Followed): Promise<void> => {
    switch (followed.type) {
      case 'events': {
        const { events, position } = followed;
        const first = position.seq - events.length + 1;
        for (const [index, event] of events.entries()) frames.feed(event, { ...position, seq: first + index });
        return;
      }
      case 'ended': {
        // Of a run that has never begun: it is the first that is heard of the message.
        const { runId, threadId, messageId } = run;
        if (!frames.hasStarted) frames.feed({ type: 'run-start', runId, threadId, messageId });
        return frames.feed(followed.event);
      }
      case 'dropped': {
        const stored = await message();
        if (stored === null) throw new Error(`Message ${run.messageId} of run ${run.runId} is gone.`);
        for (const event of eventsOf(stored)) frames.feed(event);
        return;
      }
      case 'reset':
        // What the reader has cannot be taken back here; it comes again, and is then told all of it.
        throw new Error(`The log of run ${run.runId} was rewritten while it was read.`);
    }
  };

  return writeSSE({
    keepAliveMs,
    async read() {
      reader ??= run.follow().getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The log of run ${run.runId} ended before the run did.`);
        try {
          await see(value);
        } catch (error) {
          // A stream that fails is not cancelled by whoever reads it.
          void reader.cancel(error).catch(() => undefined);
          throw error;
        }
        const { isOver: isLast } = frames;
        if (isLast) void reader.cancel().catch(() => undefined);
        const text = frames.take() + (isLast ? doneFrame : '');
        if (text !== '') return { frames: text, isLast };
      }
    },
    cancel: async (reason) => reader?.cancel(reason),
  });
}

/** A message that nobody writes any more, from its start to its end. */
export function messageFrames(message: CanonicalMessage, options: RunFramesOptions): string {
  const frames = new RunFrames(options);
  for (const event of eventsOf(message)) frames.feed(event);
  return frames.take() + doneFrame;
}

/** The message in one piece, which the encoder takes apart: it then knows of each part what became of it. */
function* eventsOf(message: CanonicalMessage): Generator<AgentEvent> {
  for (const event of unfold(message)) {
    if (event.type === 'run-start') {
      yield event;
      yield { type: 'message-snapshot', content: message.content };
    } else if (event.type === 'state-snapshot' || event.type === 'run-end') yield event;
  }
}

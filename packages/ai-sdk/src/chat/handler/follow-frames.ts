import { unfold, type AgentEvent, type CanonicalMessage, type ServedRun } from '@intertie/core';
import type { Followed } from '@intertie/core/internal';
import { RunFrameEncoder, type RunFrameEncoderOptions } from './run-frame-encoder.ts';
import { doneFrame } from '../../ui-message-stream/sse/ui-message-sse.ts';
import { writeSSE } from '../../ui-message-stream/sse/write-sse.ts';

export interface FollowFramesOptions extends RunFrameEncoderOptions {
  keepAliveMs: number;
  /** Reads the stored message, for a run whose log has been dropped. */
  getMessage: () => Promise<CanonicalMessage | null>;
}

/**
 * Streams the SSE frames of a run until it ends. Cancelling the stream does not affect the run. If the run cannot be followed
 * to its end, the stream errors, since a client would take a clean end for the end of the message.
 */
export function followFrames(served: ServedRun, options: FollowFramesOptions): ReadableStream<Uint8Array> {
  const { keepAliveMs, getMessage, ...encoderOptions } = options;
  const { run } = served;
  const encoder = new RunFrameEncoder(encoderOptions);
  let reader: ReadableStreamDefaultReader<Followed> | undefined;

  const feed = async (followed: Followed): Promise<void> => {
    switch (followed.type) {
      case 'events': {
        const { events, position } = followed;
        const first = position.seq - events.length + 1;
        for (const [index, event] of events.entries()) encoder.feed(event, { ...position, seq: first + index });
        return;
      }
      case 'ended': {
        // The run ended before it started, so the message needs its first event.
        const { runId, threadId, messageId } = run;
        if (!encoder.hasStarted) encoder.feed({ type: 'run-start', runId, threadId, messageId });
        return followed.isWaiting ? encoder.wait(followed.event) : encoder.feed(followed.event);
      }
      case 'dropped': {
        const stored = await getMessage();
        if (stored === null) throw new Error(`Message ${run.messageId} of run ${run.runId} was deleted.`);
        for (const event of toEvents(stored)) encoder.feed(event);
        return;
      }
      case 'reset':
        // Sent frames cannot be retracted. The client reconnects and then receives the whole message.
        throw new Error(`The log of run ${run.runId} was rewritten while it was read.`);
    }
  };

  return writeSSE({
    keepAliveMs,
    async read() {
      reader ??= served.follow().getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The log of run ${run.runId} ended before the run did.`);
        try {
          await feed(value);
        } catch (error) {
          // The reader of a failed stream does not cancel it.
          void reader.cancel(error).catch(() => undefined);
          throw error;
        }
        const { isOver: isLast } = encoder;
        if (isLast) void reader.cancel().catch(() => undefined);
        const text = encoder.flush() + (isLast ? doneFrame : '');
        if (text !== '') return { frames: text, isLast };
      }
    },
    cancel: async (reason) => reader?.cancel(reason),
  });
}

/** Encodes a finished message as SSE frames. */
export function encodeMessage(message: CanonicalMessage, options: RunFrameEncoderOptions): string {
  const encoder = new RunFrameEncoder(options);
  for (const event of toEvents(message)) encoder.feed(event);
  return encoder.flush() + doneFrame;
}

/** Yields the message as one snapshot, so that the encoder knows the final state of each part. */
function* toEvents(message: CanonicalMessage): Generator<AgentEvent> {
  for (const event of unfold(message)) {
    if (event.type === 'run-start') {
      yield event;
      yield { type: 'message-snapshot', content: message.content };
    } else if (event.type === 'state-snapshot' || event.type === 'run-end') yield event;
  }
}

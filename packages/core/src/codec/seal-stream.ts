import type { Codec } from './codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { OnLoss } from '../json/loss.ts';
import type { RunInput } from '../event/run-input.ts';
import { seal } from './seal.ts';
import { findSealed, markSealedCodec, type SealedStream } from './sealed-stream.ts';
import { sourceStream, type SourceStreamOptions } from './source-stream.ts';

export interface SealStreamOptions extends Pick<SourceStreamOptions, 'signal' | 'drainMs'> {
  onLoss: OnLoss;
  /** Committed events of a run that is resumed; see `SealOptions`. */
  log?: readonly AgentEvent[] | undefined;
}

/**
 * Seals the events of a source, unless the stream is already sealed for this run. A stream that was sealed for another
 * `RunInput` is sealed again, because its ids and its baseline may differ. The options apply only if the stream is sealed here.
 */
export function sealStream(
  events: ReadableStream<AgentEvent>,
  run: RunInput,
  { onLoss, log, ...options }: SealStreamOptions,
): SealedStream {
  const sealed = findSealed(events);
  if (sealed?.run === run && sealed.log === log) return sealed;
  const codec = seal(run, onLoss, log ? { log } : {});
  // Leaves out `flush`, which would write `run-start` immediately: the source may send its own.
  const unflushed: Codec<AgentEvent, AgentEvent> = {
    feed: (event, emit) => codec.feed(event, emit),
    end: (end, emit) => codec.end(end, emit),
  };
  markSealedCodec(unflushed, { run, log });
  return findSealed(sourceStream(events, unflushed, options))!;
}

import { toFault, type AgentEvent, type Codec, type Emit, type End } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';
import type { AGUIEncoder } from './encode-ag-ui.ts';
import type { MoreWords } from './more-words.ts';

export interface PartCodecOptions {
  /** Ends with `seal`. */
  decoder: Codec<unknown, AgentEvent>;
  /** The words of a part that is more of what the decoder was fed last. Not where something else comes between the parts. */
  more?: (part: unknown) => string | undefined;
  encoder: AGUIEncoder;
  now: () => number;
}

export interface PartCodec extends Codec<unknown, AGUIEvent> {
  /** Whether the run has said its last word. */
  isEnded(): boolean;
  /** Gives how more words of the same are told without another feed, if they can be. */
  feed(part: unknown, emit: Emit<AGUIEvent>): MoreWords | undefined;
  /** The words of a part that is more of what the last one was. */
  readonly more: PartCodecOptions['more'];
  flush(emit: Emit<AGUIEvent>): void;
  /** Nobody listens any more: what it would say at its end is not said. */
  leave(): void;
}

/**
 * Parts to AG-UI: a decoder, the seal and the encoder as one. Most of a stream are words of what is open, and these go from
 * the part to the event, past the canonical event between them, which would say nothing that is not known.
 */
export function createPartCodec({ decoder, more, encoder, now }: PartCodecOptions): PartCodec {
  let isEnded = false;
  let emit: Emit<AGUIEvent>;
  /** How many events the last part was. */
  let passed = 0;

  const pass = (event: AgentEvent): void => {
    if (isEnded) return;
    passed += 1;
    isEnded = event.type === 'run-end';
    // Words were said when the part was that they are of.
    const isTimed = event.at !== undefined || event.type.endsWith('-delta');
    encoder.feed(event, emit, isTimed ? event.at : now());
  };

  return {
    isEnded: () => isEnded,
    more,
    feed(part, own) {
      emit = own;
      passed = 0;
      decoder.feed(part, pass);
      // If the part was one event, and is what the encoder was fed last, then that is what the next may be more of.
      return passed === 1 && more !== undefined ? encoder.more : undefined;
    },
    flush(own) {
      emit = own;
      decoder.flush?.(pass);
    },
    end(end, own) {
      emit = own;
      let cut: End = { reason: 'eof' };
      try {
        decoder.end(end, pass);
      } catch (error) {
        cut = end.reason === 'error' ? end : { reason: 'error', error: toFault(error, 'codec') };
      }
      isEnded = true;
      encoder.end(cut, own);
    },
    leave() {
      isEnded = true;
      try {
        decoder.end({ reason: 'aborted' }, pass);
      } catch {
        // Nobody would be told of it.
      }
    },
  };
}

import { toFault, type AgentEvent, type Codec, type Emit, type End } from '@intertie/core';
import type { AGUIEvent } from './ag-ui-event.ts';
import type { AGUIEncoder } from './encode-ag-ui.ts';

export interface PartCodecOptions {
  /** Ends with `seal`. */
  decoder: Codec<unknown, AgentEvent>;
  /** The words of a part that is more of what the decoder was fed last. Not where something else comes between the parts. */
  more?: (part: unknown) => string | undefined;
  encoder: AGUIEncoder;
  now: () => number;
}

/**
 * Parts to AG-UI: a decoder, the seal and the encoder as one. Most of a stream are words of what is open, and these go from
 * the part to the event, past the canonical event between them, which would say nothing that is not known.
 */
export class PartCodec implements Codec<unknown, AGUIEvent> {
  #options: PartCodecOptions;
  #more: ((part: unknown) => string | undefined) | undefined;
  #encoder: AGUIEncoder;
  /** How many events the last part was. */
  #passed = 0;
  #isEnded = false;
  #emit: Emit<AGUIEvent> = () => undefined;

  constructor(options: PartCodecOptions) {
    this.#options = options;
    this.#more = options.more;
    this.#encoder = options.encoder;
  }

  /** Whether the run has said its last word. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  feed(part: unknown, emit: Emit<AGUIEvent>): void {
    // If the last part was one event, and is what the encoder was fed last, then that is what this is more of.
    const delta = this.#passed === 1 ? this.#more?.(part) : undefined;
    if (delta !== undefined && delta !== '' && this.#encoder.goOn(delta, emit)) return;
    this.#emit = emit;
    this.#passed = 0;
    this.#options.decoder.feed(part, this.#pass);
  }

  flush(emit: Emit<AGUIEvent>): void {
    this.#emit = emit;
    this.#options.decoder.flush?.(this.#pass);
  }

  end(end: End, emit: Emit<AGUIEvent>): void {
    this.#emit = emit;
    try {
      this.#options.decoder.end(end, this.#pass);
    } catch (error) {
      this.#pass({ type: 'run-end', outcome: 'error', error: toFault(error, 'codec') });
    }
    this.#encoder.end({ reason: 'eof' }, emit);
  }

  /** Nobody listens any more: what it would say at its end is not said. */
  leave(): void {
    this.#isEnded = true;
    try {
      this.#options.decoder.end({ reason: 'aborted' }, this.#pass);
    } catch {
      // Nobody would be told of it.
    }
  }

  #pass = (event: AgentEvent): void => {
    if (this.#isEnded) return;
    this.#passed += 1;
    this.#isEnded = event.type === 'run-end';
    const isTimed = event.at !== undefined || event.type.endsWith('-delta');
    this.#encoder.feed(isTimed ? event : { ...event, at: this.#options.now() }, this.#emit);
  };
}

import type { AgentSource } from '../event/agent-source.ts';
import { compose, type Codec } from '../codec/codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { OnLoss } from '../json/loss.ts';
import { assertSpeed, playTape } from './play-tape.ts';
import { assignNewIds } from './assign-new-ids.ts';
import type { RunInput } from '../event/run-input.ts';
import { seal } from '../codec/seal.ts';
import { sourceStream, type SourceStreamOptions } from '../codec/source-stream.ts';
import { CANONICAL, type Tape } from './tape.ts';

export interface TapeSourceOptions {
  /** 1 as recorded (the default), 2 twice as fast, Infinity at once. */
  speed?: number;
  /** Reads the tape's dialect. Needed for every dialect but the canonical one. */
  decoder?: (run: RunInput, onLoss: OnLoss) => Codec<unknown, AgentEvent>;
  name?: string;
  /** Is given every item of the tape before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
}

/**
 * A tape as a source: every run plays it from the beginning, to the end of the first run that is on it. All ids are those of
 * the run that is asked for, so the same tape may be played again and again in one thread.
 */
export function tapeSource(tape: Tape<unknown>, options: TapeSourceOptions = {}): AgentSource {
  const { speed = 1, decoder, name = 'tape', onFrame, onLoss = () => {} } = options;
  const { dialect } = tape.header;
  assertSpeed(speed);
  if (decoder === undefined && dialect !== CANONICAL) {
    throw new TypeError(
      `The tape holds the dialect "${dialect}". Give tapeSource a decoder for it, or convert the tape to "${CANONICAL}".`,
    );
  }
  return {
    name,
    pauses: 'replay',
    run: (run, { signal }) =>
      sourceStream(
        () => playTape(tape, { speed }),
        compose((decoder ?? assignNewIds)(run, onLoss), seal(run, onLoss)),
        {
          signal,
          ...(onFrame && { onFrame }),
        },
      ),
  };
}

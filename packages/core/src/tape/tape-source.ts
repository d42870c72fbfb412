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
  /** Playback speed. 2 is twice as fast, Infinity does not wait. Default: 1, as recorded. */
  speed?: number;
  /** Decodes the dialect of the tape. Required for every dialect except the canonical one. */
  decoder?: (run: RunInput, onLoss: OnLoss) => Codec<unknown, AgentEvent>;
  name?: string;
  /** Receives every item of the tape before it is decoded. */
  onFrame?: SourceStreamOptions['onFrame'];
  onLoss?: OnLoss;
}

/**
 * Creates a source from a tape. Every run plays the tape from the beginning to the end of the first run on it. Canonical events get
 * new ids, so one tape can be played many times in a thread.
 */
export function tapeSource(tape: Tape<unknown>, options: TapeSourceOptions = {}): AgentSource {
  const { speed = 1, decoder, name = 'tape', onFrame, onLoss = () => {} } = options;
  const { dialect } = tape.header;
  assertSpeed(speed);
  if (decoder === undefined && dialect !== CANONICAL) {
    throw new TypeError(
      `The tape has the dialect "${dialect}". Pass a decoder for it to tapeSource, or convert the tape to "${CANONICAL}".`,
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

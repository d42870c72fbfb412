import type { AgentSource, ResumePoint } from '../event/agent-source.ts';
import { compose, prependEvents, type Codec } from '../codec/codec.ts';
import type { AgentEvent } from '../event/event.ts';
import type { OnLoss } from '../json/loss.ts';
import { assertSpeed, playTape } from './play-tape.ts';
import { assignNewIds } from './assign-new-ids.ts';
import { replayLogged } from './replay-logged.ts';
import type { RunInput } from '../event/run-input.ts';
import { toFirstRun } from '../codec/resume-replay.ts';
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
 * new ids, so one tape can be played many times in a thread. A run whose process has died continues at the last logged event.
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
  const decode = decoder ?? assignNewIds;
  const play = (
    items: Tape<unknown>['items'],
    codec: Codec<unknown, AgentEvent>,
    signal: AbortSignal,
  ): ReadableStream<AgentEvent> =>
    sourceStream(() => playTape({ ...tape, items }, { speed }), codec, { signal, ...(onFrame && { onFrame }) });
  return {
    name,
    pauses: 'replay',
    run: (run, { signal }) => play(tape.items, compose(decode(run, onLoss), seal(run, onLoss)), signal),
    resume(run, from, { signal }) {
      const sealed = seal(run, onLoss, { log: from.events });
      if (hasOnlyOpening(run, from)) return play(tape.items, compose(decode(toFirstRun(run), onLoss), sealed), signal);
      let isReplay = true;
      const onNewLoss: OnLoss = (loss) => (isReplay ? undefined : onLoss(loss));
      const first = toFirstRun(run);
      const codec = compose(decode(first, onNewLoss), seal(first, onNewLoss));
      const replayed = replayLogged(tape.items, codec, from.events);
      isReplay = false;
      if (!replayed) return play([], compose(endAsLost, sealed), signal);
      const { index, pending } = replayed;
      const start = tape.items[index - 1]?.t ?? 0;
      const rest = tape.items.slice(index).map(({ t, item }) => ({ t: Math.max(0, t - start), item }));
      return play(rest, compose(prependEvents(pending, codec), sealed), signal);
    },
  };
}

/** Whether the log ends before the first event of the tape: after `run-start`, the baseline, the answers and the state. */
function hasOnlyOpening({ message, answers, state }: RunInput, { events }: ResumePoint): boolean {
  const opening = 1 + (message ? 1 : 0) + answers.length + (state === undefined ? 0 : 1);
  return (
    events.filter(({ type }) => type !== 'notice' && type !== 'checkpoint').length <= opening &&
    !events.some(isOwnNotice)
  );
}

function isOwnNotice(event: AgentEvent): boolean {
  return event.type === 'notice' && event.code !== 'recovered';
}

const endAsLost: Codec<unknown, AgentEvent> = {
  feed() {},
  end(_, emit) {
    const message =
      'The tape does not contain the last event of the run. It was changed after the run had started. Send the message again.';
    emit({ type: 'run-end', outcome: 'error', error: { message, code: 'lost' } });
  },
};

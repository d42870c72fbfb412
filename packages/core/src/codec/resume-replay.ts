import type { ResumePoint } from '../event/agent-source.ts';
import type { AgentEvent } from '../event/event.ts';
import type { RunInput } from '../event/run-input.ts';
import { omit } from '../json/fields.ts';
import type { OnLoss } from '../json/loss.ts';
import { compose, type Codec } from './codec.ts';
import { findLoggedPosition } from './logged-position.ts';
import { seal, type SealOptions } from './seal.ts';

export interface ResumeReplayOptions<In> extends Pick<SealOptions, 'trusted'> {
  /** Creates the decoder of the run. Equal frames must give equal events with equal ids. */
  decode: (run: RunInput, onLoss: OnLoss) => Codec<In, AgentEvent>;
  onLoss: OnLoss;
}

/**
 * Creates the codec of a resumed run whose frames can be read again from the start of the run, for example from the record of a
 * remote task. It emits only the events after the last one of the log, with the ids of an undisturbed run. The run ends as `lost` if
 * the frames do not produce the events of the log.
 */
export function resumeReplay<In>(
  run: RunInput,
  from: ResumePoint,
  { decode, onLoss, trusted = false }: ResumeReplayOptions<In>,
): Codec<In, AgentEvent> {
  const position = findLoggedPosition(from.events);
  const onNewLoss: OnLoss = (loss) => (position.isReached ? onLoss(loss) : undefined);
  const first = toFirstRun(run);
  const skipped: Codec<AgentEvent, AgentEvent> = {
    feed(event, emit) {
      const isKnown = position.isReached || event.type !== 'run-end';
      const rest = isKnown ? position.skip(event) : toUnreachedEnd(event);
      if (rest) emit(rest);
    },
    end() {},
  };
  const replayed = compose(decode(first, onNewLoss), seal(first, onNewLoss, { trusted }));
  return compose(compose(replayed, skipped), seal(run, onLoss, { trusted, log: from.events }));
}

/** Returns the input with which the run was started. Its decoder creates the ids of the log again, so open parts continue. */
export function toFirstRun(run: RunInput): RunInput {
  return { ...omit(run, 'epoch'), history: run.history.filter(({ id }) => id !== run.messageId) };
}

/** A stop or an error before the last event of the log ends the run as usual. Any other end means that the recording has changed. */
function toUnreachedEnd(end: AgentEvent): AgentEvent {
  if (end.type !== 'run-end' || end.outcome === 'aborted' || end.outcome === 'error') return end;
  const message =
    'The recording of the runtime does not contain the last event of the run, so the run cannot be continued. Send the message again.';
  return { type: 'run-end', outcome: 'error', error: { message, code: 'lost' } };
}

/** Events that a run has before the first event of its source. */
const openingTypes: ReadonlySet<AgentEvent['type']> = new Set([
  'run-start',
  'message-snapshot',
  'state-snapshot',
  'answer',
  'tool-result',
  'checkpoint',
]);

/** Whether the log contains output of the source, so that the source had begun its work. */
export function hasSourceOutput({ events }: Pick<ResumePoint, 'events'>): boolean {
  return events.some((event) => (event.type === 'notice' ? event.code !== 'recovered' : !openingTypes.has(event.type)));
}

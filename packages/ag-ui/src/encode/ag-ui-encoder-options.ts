import type { Message } from '@ag-ui/core';
import type { AgentEvent, OnLoss } from '@intertie/core';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import type { StepNames } from './encode-agents.ts';
import type { Form } from './encode-tools.ts';
import type { UnattachedPart } from './to-ag-ui-messages.ts';

export interface AGUIEncoderOptions {
  /** What the client speaks: `1.0`, or an older package's version. Default: what all since 0.0.45 take. */
  protocolVersion?: string;
  /** `chunks` say the id on every one; parts that interleave are triads all the same. Default: triads. */
  form?: Form;
  /** Whether every event says when it was, as far as the canonical one does. Default: no. */
  timestamps?: boolean;
  /** How the model's turns are called. Default: `turns`. */
  stepNames?: StepNames;
  /** Default: yes. */
  sendReasoning?: boolean;
  /** What agents say to each other. Default: no. */
  sendInternal?: boolean;
  /** Preliminary results as activities. Default: they are withheld. */
  preliminary?: 'activity' | 'withhold';
  /** The history that the client has. Only with it can a snapshot be written, since what one leaves out is deleted. */
  messages?: readonly Message[];
  /** Whether the messages are told once more before the end. Default: no. */
  snapshot?: boolean;
  /** What a continuation does with the message that it continues. Default: the client has sent it. */
  baseline?: 'assume' | 'restate';
  /** The result of the run: what the run says, or the last turn's text and finish reason. Default: `run`. */
  result?: 'run' | 'text';
  /** The request, where `RUN_STARTED` is to repeat it. */
  echo?: AGUIRunInput;
  onLoss?: OnLoss;
}

/** What a client that joins in the middle is told: the branch before the message, and the events of the run so far. */
export type AGUIOpenState = {
  history: readonly Message[];
  events: Iterable<AgentEvent>;
  /** What of the branch no message can say: its files and sources, which are told as events. */
  beside?: readonly UnattachedPart[];
  /** The messages that the client has, if it says so: what it has given itself keeps its id, and all is where it belongs. */
  known?: readonly Message[];
};

/** Names the options, so that a cursor knows whether it still fits. */
export function optionsKeyOf(options: AGUIEncoderOptions): string {
  const { sendReasoning = true, sendInternal = false, timestamps = false, snapshot = false } = options;
  const { protocolVersion = 'any', form = 'triads', stepNames = 'turns', preliminary, baseline } = options;
  const isTold = preliminary === 'activity';
  const flags = [sendReasoning, sendInternal, timestamps, snapshot, isTold, baseline === 'restate'];
  const names = typeof stepNames === 'string' ? stepNames : 'own';
  return `${protocolVersion}-${form}-${names}-${flags.map(Number).join('')}`;
}

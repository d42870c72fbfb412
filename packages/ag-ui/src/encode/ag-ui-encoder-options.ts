import type { Message } from '@ag-ui/core';
import type { AgentEvent, OnLoss } from '@intertie/core';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import type { StepNames } from './encode-agents.ts';
import type { Form } from './encode-tools.ts';
import type { UnattachedPart } from './to-ag-ui-messages.ts';

/** Options of `createAGUIEncoder` and of everything that encodes AG-UI events. */
export interface AGUIEncoderOptions {
  /** Protocol version of the client: `1.0`, or the version of an older package. Default: output for all since 0.0.45. */
  protocolVersion?: string;
  /** `chunks` carry the id on every event; interleaved parts are triads anyway. Default: `triads`. */
  form?: Form;
  /** Whether events carry the timestamp of their canonical event. Default: false. */
  timestamps?: boolean;
  /** Names of the model's steps. Default: `turns`. */
  stepNames?: StepNames;
  /** Default: true. */
  sendReasoning?: boolean;
  /** Whether messages between agents are sent. Default: false. */
  sendInternal?: boolean;
  /** Whether preliminary tool results are sent as activities. Default: `withhold`. */
  preliminary?: 'activity' | 'withhold';
  /** History of the client. Required for snapshots, because a snapshot deletes the messages that it omits. */
  messages?: readonly Message[];
  /** Whether a MESSAGES_SNAPSHOT is sent before the end. Default: false. */
  snapshot?: boolean;
  /** Whether the client already has the message that a continuation continues, or gets it again. Default: `assume`. */
  baseline?: 'assume' | 'restate';
  /** `result` of RUN_FINISHED: the run's own, or text and finish reason of the last step. Default: `run`. */
  result?: 'run' | 'text';
  /**
   * How a paused run asks its questions: as interrupts of the outcome, or like LangGraph as `CUSTOM on_interrupt` before a
   * RUN_FINISHED without an outcome. Default: `outcome`.
   */
  interrupts?: 'outcome' | 'langgraph';
  /**
   * Whether the calls that a paused run waits for are repeated as `CUSTOM tool-input-available`, from which TanStack AI executes
   * its client tools. Default: false.
   */
  announceClientTools?: boolean;
  /** Request that RUN_STARTED repeats as `input`. */
  echo?: AGUIRunInput;
  onLoss?: OnLoss;
}

/** State for a client that joins a run: the branch before its message, and the events of the run so far. */
export type AGUIOpenState = {
  history: readonly Message[];
  events: Iterable<AgentEvent>;
  /** Files and sources of the branch, which no AG-UI message can carry and are sent as events. */
  unattached?: readonly UnattachedPart[];
  /** Messages that the client has. Tool results that it gave keep their ids, and the order of messages is preserved. */
  known?: readonly Message[];
};

/** Returns a key of the options, with which a cursor detects whether it was created with the same ones. */
export function toOptionsKey(options: AGUIEncoderOptions): string {
  const { sendReasoning = true, sendInternal = false, timestamps = false, snapshot = false } = options;
  const { protocolVersion = 'any', form = 'triads', stepNames = 'turns', preliminary, baseline, interrupts } = options;
  const sendsPreliminary = preliminary === 'activity';
  const flags = [sendReasoning, sendInternal, timestamps, snapshot, sendsPreliminary, baseline === 'restate'];
  const names = typeof stepNames === 'string' ? stepNames : 'own';
  const suffix = interrupts === 'langgraph' ? '-langgraph' : '';
  return `${protocolVersion}-${form}-${names}-${flags.map(Number).join('')}${suffix}`;
}

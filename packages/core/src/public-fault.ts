import type { Codec, Encoder, End } from './codec.ts';
import type { AgentEvent } from './event.ts';
import type { Fault } from './fault.ts';
import type { CanonicalMessage, MessageContent } from './message.ts';
import type { Outcome } from './outcome.ts';

/**
 * Codes of the faults that this project raises itself. Their messages are written for users and hold no text of a provider,
 * a runtime or a database.
 */
const ownCodes: ReadonlySet<string> = new Set([
  'agent-gone',
  'closing',
  'database-away',
  'flow-failed',
  'idle',
  'invalid-chunk',
  'log-lost',
  'lost',
  'mail-completed-task',
  'mail-no-result',
  'mail-version',
  'no-agent',
  'no-progress',
  'phase-error',
  'truncated',
  'undelivered',
]);

/** How faults are shown to clients. */
export type FaultView = {
  /** The run that a client can report, and an operator can find in the log. */
  runId?: string | undefined;
  /** Replaces the default text. It is given the fault as it is stored. */
  errorText?: ((error: Fault) => string) | undefined;
};

/**
 * The fault as a client may see it. Messages of providers and runtimes hold keys, addresses and prompts, so a client gets a
 * generic code and message with the run id. Faults of our own keep their message, and `data` stays on the server.
 */
export function toPublicFault(fault: Fault, { runId, errorText }: FaultView): Fault {
  const { message, code, retryable } = fault;
  const more = retryable === undefined ? {} : { retryable };
  const shown = code === undefined ? more : { code, ...more };
  if (errorText) return { message: errorText(fault), ...shown };
  if (code !== undefined && ownCodes.has(code)) return { message, ...shown };
  const run = runId === undefined ? '' : ` Run: ${runId}.`;
  return { message: `The agent failed to answer. The server's log has the reason.${run}`, code: 'run-failed', ...more };
}

/** The event with its faults as a client may see them. Most events have none and are returned as they are. */
export function toPublicEvent(event: AgentEvent, view: FaultView): AgentEvent {
  switch (event.type) {
    case 'run-end':
    case 'agent-end':
      return event.outcome === 'error' ? { ...event, error: toPublicFault(event.error, view) } : event;
    case 'notice': {
      if (event.level !== 'error') return event;
      const { message, code, data: _, ...rest } = event;
      return { ...rest, ...toPublicFault(code === undefined ? { message } : { message, code }, view) };
    }
    case 'message-snapshot':
      return { ...event, content: toPublicContent(event.content, view) };
    default:
      return event;
  }
}

export function toPublicOutcome<T extends Outcome>(outcome: T, view: FaultView): T {
  return outcome.outcome === 'error' ? { ...outcome, error: toPublicFault(outcome.error, view) } : outcome;
}

export function toPublicMessage(message: CanonicalMessage, view: FaultView): CanonicalMessage {
  const content = toPublicContent(message.content, { runId: message.runId, ...view });
  return content === message.content ? message : { ...message, content };
}

/** Passes events on with their faults as a client may see them. */
export function publicFaults(view: FaultView): Codec<AgentEvent, AgentEvent> {
  return { feed: (event, emit) => emit(toPublicEvent(event, view)), end: () => undefined };
}

/** An encoder that shows faults to a client. */
export function withPublicFaults<Out, State extends { events: Iterable<AgentEvent> }>(
  encoder: Encoder<Out, State>,
  view: FaultView,
): Encoder<Out, State> {
  return {
    version: encoder.version,
    optionsKey: encoder.optionsKey,
    feed: (event, emit) => encoder.feed(toPublicEvent(event, view), emit),
    ...(encoder.flush && { flush: (emit) => encoder.flush!(emit) }),
    end: (end, emit) => encoder.end(toPublicEnd(end, view), emit),
    ...(encoder.open && {
      open: (state, emit) =>
        encoder.open!({ ...state, events: Array.from(state.events, (event) => toPublicEvent(event, view)) }, emit),
    }),
  };
}

function toPublicEnd(end: End, view: FaultView): End {
  return end.reason === 'error' ? { ...end, error: toPublicFault(end.error, view) } : end;
}

/** A tool's error is not changed: it is the tool's result, which the model reads too. */
function toPublicContent(content: MessageContent, view: FaultView): MessageContent {
  const { agents, runs } = content;
  const failed =
    Object.values(agents ?? {}).some(({ error }) => error) || runs?.some(({ outcome }) => outcome === 'error');
  if (!failed) return content;
  return {
    ...content,
    ...(agents && {
      agents: Object.fromEntries(
        Object.entries(agents).map(([id, agent]) => [
          id,
          agent.error ? { ...agent, error: toPublicFault(agent.error, view) } : agent,
        ]),
      ),
    }),
    ...(runs && { runs: runs.map((run) => toPublicOutcome(run, { ...view, runId: run.runId })) }),
  };
}

import type { Codec, Encoder, End } from '../codec/codec.ts';
import type { AgentEvent, EventOf } from '../event/event.ts';
import type { Fault } from '../event/fault.ts';
import type { Json } from '../json/json.ts';
import type { CanonicalMessage, MessageContent } from '../event/message.ts';
import type { Outcome } from '../event/outcome.ts';

/**
 * Codes of the faults that this project raises. Their messages are written for users and contain no text of a provider, a runtime
 * or a database.
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
  'too-many-attempts',
  'truncated',
  'undelivered',
]);

/** Options for showing faults to clients. */
export type FaultView = {
  /** Run id in the message, which a client can report and an operator can find in the log. */
  runId?: string | undefined;
  /** Replaces the default text. Receives the fault as stored. */
  errorText?: ((error: Fault) => string) | undefined;
};

/**
 * Converts a fault for clients. Messages of providers and runtimes may contain keys, addresses and prompts, so a client gets a
 * generic code and message with the run id. Our own faults keep their message. `data` always stays on the server.
 */
export function toPublicFault(fault: Fault, { runId, errorText }: FaultView): Fault {
  const { message, code, retryable } = fault;
  const flags = retryable === undefined ? {} : { retryable };
  const fields = code === undefined ? flags : { code, ...flags };
  if (errorText) return { message: errorText(fault), ...fields };
  if (code !== undefined && ownCodes.has(code)) return { message, ...fields };
  const run = runId === undefined ? '' : ` Run: ${runId}.`;
  const text = `The agent failed to answer. The server's log has the reason.${run}`;
  return { message: text, code: 'run-failed', ...flags };
}

/** Converts the faults of an event for clients. Events without a fault are returned unchanged. */
export function toPublicEvent(event: AgentEvent, view: FaultView): AgentEvent {
  switch (event.type) {
    case 'run-end':
      return event.outcome === 'error' ? toPublicRunEnd(event, view) : event;
    case 'agent-end':
      return event.outcome === 'error' ? { ...event, error: toPublicFault(event.error, view) } : event;
    case 'notice': {
      if (event.level !== 'error') return event;
      const { message, code, data: _, ...rest } = event;
      return { ...rest, ...toPublicFault(code === undefined ? { message } : { message, code }, view) };
    }
    case 'message-snapshot':
      return { ...event, content: toPublicContent(event.content, view) };
    case 'raw':
      return toPublicRaw(event, view);
    default:
      return event;
  }
}

/** Converts the fault of an outcome for clients. */
export function toPublicOutcome<T extends Outcome>(outcome: T, view: FaultView): T {
  return outcome.outcome === 'error' ? { ...outcome, error: toPublicFault(outcome.error, view) } : outcome;
}

/** Converts the faults of a message for clients. */
export function toPublicMessage(message: CanonicalMessage, view: FaultView): CanonicalMessage {
  const content = toPublicContent(message.content, { runId: message.runId, ...view });
  return content === message.content ? message : { ...message, content };
}

/** Creates a codec that converts the faults of events for clients. */
export function publicFaults(view: FaultView): Codec<AgentEvent, AgentEvent> {
  return { feed: (event, emit) => emit(toPublicEvent(event, view)), end: () => undefined };
}

/** Wraps an encoder so that it encodes faults as clients may see them. */
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

/** Withholds the metadata along with the text, because runtimes repeat the error text in it. */
function toPublicRunEnd(event: EventOf<'run-end'> & { outcome: 'error' }, view: FaultView): AgentEvent {
  const { providerMetadata, ...rest } = event;
  const error = toPublicFault(event.error, view);
  const isWithheld = providerMetadata === undefined || error.message !== event.error.message;
  return { ...rest, error, ...(!isWithheld && { providerMetadata }) };
}

/** Replaces a frame that reports an error by the fault for clients. */
function toPublicRaw(event: EventOf<'raw'>, view: FaultView): AgentEvent {
  if (!reportsError(event.value)) return event;
  const message = JSON.stringify(event.value);
  const error = toPublicFault({ message }, view);
  return error.message === message ? event : { ...event, value: { error } };
}

const errorPattern = /error|exception|traceback|fail/i;
/** Fields that name the kind of a frame. */
const kindFields: ReadonlySet<string> = new Set(['type', 'event', 'name', 'status', 'level', 'outcome']);

/** Whether a frame of any dialect reports an error. Truncated or invalid JSON is searched as text. */
function reportsError(value: Json): boolean {
  if (typeof value === 'string') return errorPattern.test(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object' && reportsError(item));
  return Object.entries(value).some(([key, field]) => {
    if (field === null || field === undefined || field === false) return false;
    if (errorPattern.test(key)) return true;
    if (typeof field === 'string') return (kindFields.has(key) || isPreview(key, value)) && errorPattern.test(field);
    return reportsError(field);
  });
}

function isPreview(key: string, frame: { [key: string]: Json | undefined }): boolean {
  return key === 'preview' && frame['truncated'] === true;
}

function toPublicEnd(end: End, view: FaultView): End {
  return end.reason === 'error' ? { ...end, error: toPublicFault(end.error, view) } : end;
}

/** Does not change tool errors: they are results, which the model reads too. */
function toPublicContent(content: MessageContent, view: FaultView): MessageContent {
  const { agents, runs } = content;
  const failed =
    Object.values(agents ?? {}).some(({ error }) => error) || runs?.some(({ outcome }) => outcome === 'error');
  if (!failed) return content;
  const { providerMetadata, ...rest } = content;
  const isWithheld = runs?.some(
    (run) => run.outcome === 'error' && toPublicFault(run.error, view).message !== run.error.message,
  );
  return {
    ...rest,
    ...(providerMetadata && !isWithheld && { providerMetadata }),
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

import type { Json, JsonObject } from '@intertie/core';

/** Frame of the server's event stream: the event's name, and its data as JSON text or already parsed. */
export type MAILFrame = { event: string; data: unknown };

/** Data of an event that the server logs. `extra_data` is always present and usually empty. */
type LoggedData<Extra = JsonObject> = { timestamp: string; description: string; task_id: string; extra_data: Extra };
/** Data of the last event of a stream, which has neither a description nor extra data. */
type FinalData = { timestamp: string; task_id: string; response: string };

export type MAILAddress = { address_type: 'admin' | 'agent' | 'system' | 'user'; address: string };

/** `full_message` of a `new_message`. */
export type MAILMessage = {
  id: string;
  timestamp: string;
  msg_type: 'request' | 'response' | 'broadcast' | 'interrupt' | 'broadcast_complete' | 'buffered';
  message: {
    task_id: string;
    sender: MAILAddress;
    /** Set for `request` and `response`. */
    recipient?: MAILAddress;
    /** Set for all other message types. */
    recipients?: MAILAddress[];
    subject: string;
    body: string;
    sender_swarm?: string | null;
    routing_info?: JsonObject;
  };
};

/** `extra_data` of a `tool_call`. */
export type MAILToolCall = {
  tool_name: string;
  tool_args: JsonObject;
  tool_call_id: string;
  reasoning?: string;
  reasoning_ref?: string;
  preamble?: string;
};

type PlainEventName =
  | 'action_call'
  | 'action_complete'
  | 'action_error'
  | 'breakpoint_tool_call'
  | 'breakpoint_action_complete'
  | 'await_message'
  | 'help_called'
  | 'broadcast_ignored'
  | 'task_complete_call'
  | 'task_complete_call_duplicate'
  | 'agent_error'
  | 'interswarm_message_sent'
  | 'interswarm_message_received'
  | 'interswarm_message_error';

/** One event of a MAIL 1.3 server, discriminated by its name. */
export type MAILEvent =
  | { event: 'new_message'; data: LoggedData<{ full_message: MAILMessage }> }
  | { event: 'tool_call'; data: LoggedData<MAILToolCall> }
  | { event: 'builtin_tool_call'; data: LoggedData<{ tool_type: string; tool_args: JsonObject }> }
  | { [Name in PlainEventName]: { event: Name; data: LoggedData } }[PlainEventName]
  | { event: 'task_complete' | 'task_error'; data: FinalData | LoggedData }
  | { event: 'ping'; data: { timestamp: string; task_id: string } };

/** An event that MAIL 1.3 does not define, or whose data is not an object. */
export type UnknownMAILEvent = { event: string; data: Json };

/** Frame yielded for bytes that complete no event (a comment, a partial frame), so that timeouts see the traffic. */
export const keepAliveFrame: MAILFrame = { event: 'ping', data: {} };

/** Event that we inject for the decoder, never sent by a server. It becomes a warning notice. */
export const warningEvent = 'intertie-warning';

/** Event that we inject after a `text_output` call of an agent that is the only one of its swarm. */
export const singleAgentEvent = 'intertie-alone';

/** MAIL 1.3 events that are stored in a task's record. They have a description. */
export const loggedEvents: readonly string[] = [
  'new_message',
  'tool_call',
  'action_call',
  'action_complete',
  'action_error',
  'builtin_tool_call',
  'breakpoint_tool_call',
  'breakpoint_action_complete',
  'await_message',
  'help_called',
  'broadcast_ignored',
  'task_complete_call',
  'task_complete_call_duplicate',
  'agent_error',
  'interswarm_message_sent',
  'interswarm_message_received',
  'interswarm_message_error',
];

/** All MAIL 1.3 events: the logged ones and those that only the stream produces. */
export const wireEvents: readonly string[] = [...loggedEvents, 'task_complete', 'task_error', 'ping'];

/**
 * Maps each known event name to its interned string. A name sliced from the wire is compared character by character with
 * every case of a `switch`; an interned one is compared by reference.
 */
export const eventNames: ReadonlyMap<string, string> = new Map(
  [...wireEvents, warningEvent, singleAgentEvent].map((name) => [name, name]),
);

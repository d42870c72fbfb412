import type { Json, JsonObject } from '@intertie/core';

/** A frame of the server's event stream: the event's name, and its data as JSON text or already parsed. */
export type MAILFrame = { event: string; data: unknown };

/** Every event but the three that the stream makes itself. `extra_data` is always there and mostly empty. */
type LoggedData<Extra = JsonObject> = { timestamp: string; description: string; task_id: string; extra_data: Extra };
/** What the stream writes as its last word. Neither a description nor extra data. */
type FinalData = { timestamp: string; task_id: string; response: string };

export type MAILAddress = { address_type: 'admin' | 'agent' | 'system' | 'user'; address: string };

export type MAILMessage = {
  id: string;
  timestamp: string;
  msg_type: 'request' | 'response' | 'broadcast' | 'interrupt' | 'broadcast_complete' | 'buffered';
  message: {
    task_id: string;
    sender: MAILAddress;
    /** Of a request or response. */
    recipient?: MAILAddress;
    /** Of all others. */
    recipients?: MAILAddress[];
    subject: string;
    body: string;
    sender_swarm?: string | null;
    routing_info?: JsonObject;
  };
};

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

/** One event of a MAIL 1.3 server, by its name. */
export type MAILEvent =
  | { event: 'new_message'; data: LoggedData<{ full_message: MAILMessage }> }
  | { event: 'tool_call'; data: LoggedData<MAILToolCall> }
  | { event: 'builtin_tool_call'; data: LoggedData<{ tool_type: string; tool_args: JsonObject }> }
  | { [Name in PlainEventName]: { event: Name; data: LoggedData } }[PlainEventName]
  | { event: 'task_complete' | 'task_error'; data: FinalData | LoggedData }
  | { event: 'ping'; data: { timestamp: string; task_id: string } };

/** An event that this version of MAIL does not have, or whose data is no object. */
export type UnknownMAILEvent = { event: string; data: Json };

/** A sign of life that is no event: a comment, or bytes that do not make up a whole frame yet. */
export const keepAliveFrame: MAILFrame = { event: 'ping', data: {} };

/** A word of our own to the decoder, for what is not on the wire: it becomes a notice. */
export const warningEvent = 'intertie-warning';

/** Another word of our own: the agent that has just said something without a tool is the only one of its swarm. */
export const singleAgentEvent = 'intertie-alone';

/** The events of MAIL 1.3 that a task's record keeps, with a description. */
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

/** All of them: the others are made by the stream. */
export const wireEvents: readonly string[] = [...loggedEvents, 'task_complete', 'task_error', 'ping'];

/**
 * The names that a decoder knows, by themselves. A name that was cut from a wire is compared letter by letter with each case
 * of a `switch`; the one from here is the same string as the case's.
 */
export const eventNames: ReadonlyMap<string, string> = new Map(
  [...wireEvents, warningEvent, singleAgentEvent].map((name) => [name, name]),
);

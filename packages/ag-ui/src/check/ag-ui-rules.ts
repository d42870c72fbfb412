import type { Rule } from '@intertie/core';

/** Ids of the AG-UI rules. */
export type AGUIRule =
  | 'shape'
  | 'state-delta-field'
  | 'activity-delta-field'
  | 'known-type'
  | 'run-first'
  | 'run-once'
  | 'after-finish'
  | 'after-error'
  | 'finish-closed'
  | 'text-open'
  | 'text-known'
  | 'call-open'
  | 'call-known'
  | 'step-open'
  | 'step-known'
  | 'reasoning-open'
  | 'reasoning-known'
  | 'subagent-once'
  | 'subagent-parent'
  | 'subagent-known'
  | 'owner'
  | 'subagent-null'
  | 'chunk-id'
  | 'chunk-conflict'
  | 'chunk-ambiguous'
  | 'chunk-mixed'
  | 'terminal'
  | 'protocol-version'
  | 'run-ids'
  | 'interrupt-ids'
  | 'empty-delta'
  | 'result-once'
  | 'message-id'
  | 'pending-calls'
  | 'cancelled-result'
  | 'snapshot-encrypted'
  | 'usage'
  | 'unknown-field'
  | 'metadata-key'
  | 'custom-name'
  | 'retold'
  | 'reopened'
  | 'unanswered-call'
  | 'client-tool'
  | 'patch-applies'
  | 'activity-known'
  | 'subagent-first';

/** Reports a broken rule. */
export type Complain = (rule: AGUIRule, message: string) => void;

/** Rules of a stream of AG-UI events, each with the fix. */
const rules: { readonly [Id in AGUIRule]: readonly [sentence: string, fix: string] } = {
  shape: [
    'Every event has the fields of its type, and no field is null.',
    'Leave an optional field out instead of sending null.',
  ],
  'state-delta-field': ['The patch of STATE_DELTA is in `delta`.', 'Rename `patch` to `delta`.'],
  'activity-delta-field': ['The patch of ACTIVITY_DELTA is in `patch`.', 'Rename `delta` to `patch`.'],
  'known-type': [
    'Every event has a type of the protocol.',
    'Send your own events as CUSTOM, under a name with a prefix.',
  ],
  'run-first': ['A stream starts with RUN_STARTED or RUN_ERROR.', 'Send RUN_STARTED before everything else.'],
  'run-once': ['A run starts after the previous one has ended.', 'Send RUN_FINISHED before the next RUN_STARTED.'],
  'after-finish': ['Only RUN_ERROR or another run may follow RUN_FINISHED.', 'Send the event before RUN_FINISHED.'],
  'after-error': ['Only another run may follow RUN_ERROR.', 'Send exactly one terminal event, and nothing after it.'],
  'finish-closed': [
    'Everything opened is closed before RUN_FINISHED.',
    'Send the END event, STEP_FINISHED or SUBAGENT_FINISHED.',
  ],
  'text-open': ['A text message is opened only once until it is closed.', 'Give each message a unique id.'],
  'text-known': ['Content and end of a text name an open one.', 'Send TEXT_MESSAGE_START with that id first.'],
  'call-open': ['A tool call is opened only once until it is closed.', 'Give each call a unique id.'],
  'call-known': ['Arguments and end of a call name an open one.', 'Send TOOL_CALL_START with that id first.'],
  'step-open': ['Open steps of one owner have different names.', 'Finish the step first, or give it another name.'],
  'step-known': ['STEP_FINISHED names an open step of its owner.', 'Repeat the name and the owner of STEP_STARTED.'],
  'reasoning-open': [
    'A reasoning span or message is opened only once until it is closed.',
    'Give each one a unique id.',
  ],
  'reasoning-known': ['Content and end of reasoning name an open one.', 'Send the START with that id first.'],
  'subagent-once': ['A sub-agent starts once in a run.', 'Give every invocation a unique id.'],
  'subagent-parent': ['The parent of a sub-agent has started in this run.', 'Start the parent first, or leave it out.'],
  'subagent-known': ['The end of a sub-agent names an active one.', 'Send SUBAGENT_STARTED first, and one end event.'],
  owner: [
    'A continuing event names the owner of what it continues, or none.',
    'Leave `subagentRunId` out, or repeat the value of the start.',
  ],
  'subagent-null': ['`subagentRunId` is a string or absent.', 'Leave it out instead of sending null.'],
  'chunk-conflict': [
    'A chunk repeats the fields of the first one, or omits them.',
    'Repeat the value, or leave it out.',
  ],
  'chunk-ambiguous': [
    'A chunk without an id continues the only open one of its kind.',
    'Send the id, or `subagentRunId`, with every chunk.',
  ],
  'chunk-mixed': [
    'A message or call consists of chunks or of START and END events, never both.',
    'Use one form per id. Chunks have no end event: the next event ends them.',
  ],
  'chunk-id': ['The first chunk has an id, and for a call the tool name.', 'Send the id with every chunk.'],
  terminal: ['A run ends with RUN_FINISHED or RUN_ERROR.', 'Always send a terminal event.'],
  'protocol-version': ['RUN_STARTED declares the protocol version, as two numbers.', 'Set `protocolVersion` to "1.0".'],
  'run-ids': ['RUN_FINISHED has the ids of its RUN_STARTED.', 'Repeat `threadId` and `runId`.'],
  'interrupt-ids': ['The interrupts of a run have different ids.', 'Give each interrupt a unique id.'],
  'empty-delta': ['A delta is not empty.', 'Leave empty deltas out: clients before 0.0.52 fail on them.'],
  'message-id': [
    'Texts, reasoning, results and activities never share an id.',
    'Give each message a unique id: clients append to the message with that id.',
  ],
  'pending-calls': [
    '`pendingToolCallIds` names calls of the run without a result.',
    'Name exactly the calls that wait for the client.',
  ],
  'cancelled-result': ['A cancelled run has no result.', 'Leave `result` out.'],
  'snapshot-encrypted': [
    'A snapshot repeats all encrypted values sent before.',
    'Set `encryptedValue` of the message or call: otherwise the client deletes it.',
  ],
  usage: [
    'Usage has one entry per model, parts do not exceed the whole, and the total is input plus output.',
    'Sum the usage of each model, and count cached and reasoning tokens in their whole.',
  ],
  'unknown-field': [
    'An event has only the fields of its type.',
    'Move the field into `metadata`, under your own key: clients remove unknown fields and warn.',
  ],
  'metadata-key': ['The metadata key `ag-ui` is reserved for the protocol.', 'Use your own key.'],
  'custom-name': [
    'The name of a CUSTOM event starts with the prefix of its author.',
    'Add a prefix, as in `com.example.progress`: names without one are reserved.',
  ],
  retold: [
    'Content that the client has is repeated by a snapshot, not streamed again.',
    'Send MESSAGES_SNAPSHOT: content streamed under a known id is appended.',
  ],
  reopened: [
    'A reopened message or call keeps its role and name, or its tool and parent message.',
    'Repeat the fields of the first start, or use another id.',
  ],
  'unanswered-call': [
    'When a run finishes, each of its calls has a result or is left to the client.',
    'Send TOOL_CALL_RESULT, empty if necessary, or name the call in `pendingToolCallIds`.',
  ],
  'client-tool': [
    'The agent neither answers nor interrupts for a call of a client tool.',
    'Finish the run and name the call in `pendingToolCallIds`: the client answers with its next request.',
  ],
  'patch-applies': [
    'A patch applies to the client’s value, and an activity remains an object.',
    'Send a snapshot if in doubt: clients skip a failing patch completely.',
  ],
  'activity-known': ['ACTIVITY_DELTA names an activity with a snapshot.', 'Send ACTIVITY_SNAPSHOT with that id first.'],
  'subagent-first': [
    'A sub-agent is announced before its other events.',
    'Send SUBAGENT_STARTED before every event that names the sub-agent.',
  ],
  'result-once': ['A call has one result.', 'Send only the final result: clients add a message for each.'],
};

/** The AG-UI rules as a list, for reports. */
export const aguiRules: readonly Rule[] = Object.entries(rules).map(([id, [sentence, fix]]) => ({ id, sentence, fix }));

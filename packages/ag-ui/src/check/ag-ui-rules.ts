import type { Rule } from '@intertie/core';

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

/** Says which rule is broken, and how. */
export type Complain = (rule: AGUIRule, message: string) => void;

/** What holds in a stream of AG-UI events, and what to do where it does not. */
const rules: { readonly [Id in AGUIRule]: readonly [sentence: string, fix: string] } = {
  shape: [
    'Every event has the fields of its type, and no null.',
    'Leave an optional field out instead of sending null.',
  ],
  'state-delta-field': ['A patch is in `delta` of STATE_DELTA.', 'Rename `patch` to `delta`.'],
  'activity-delta-field': ['A patch is in `patch` of ACTIVITY_DELTA.', 'Rename `delta` to `patch`.'],
  'known-type': [
    'Every event has a type of the protocol.',
    'Send what is yours as CUSTOM, under a name with a prefix.',
  ],
  'run-first': ['A stream begins with RUN_STARTED, or with RUN_ERROR.', 'Send RUN_STARTED before everything else.'],
  'run-once': ['A run starts when the one before it has ended.', 'Send RUN_FINISHED before the next RUN_STARTED.'],
  'after-finish': ['After RUN_FINISHED nothing comes but RUN_ERROR or another run.', 'Send it before RUN_FINISHED.'],
  'after-error': [
    'After RUN_ERROR nothing comes but another run.',
    'Send exactly one terminal event, and nothing behind it.',
  ],
  'finish-closed': [
    'What was opened is closed before RUN_FINISHED.',
    'Send the END, or STEP_FINISHED, or SUBAGENT_FINISHED.',
  ],
  'text-open': ['A text message is opened once until it is closed.', 'Give each message an id of its own.'],
  'text-known': ['Content and end of a text name one that is open.', 'Send TEXT_MESSAGE_START with that id first.'],
  'call-open': ['A tool call is opened once until it is closed.', 'Give each call an id of its own.'],
  'call-known': ['Arguments and end of a call name one that is open.', 'Send TOOL_CALL_START with that id first.'],
  'step-open': ['A step of one name and owner is open once.', 'Finish it first, or give the step another name.'],
  'step-known': [
    'STEP_FINISHED names a step of its owner that is open.',
    'Send it with the name and owner of the start.',
  ],
  'reasoning-open': [
    'A reasoning span or message is opened once until it is closed.',
    'Give each one an id of its own.',
  ],
  'reasoning-known': ['Content and end of reasoning name what is open.', 'Send the START with that id first.'],
  'subagent-once': ['A sub-agent starts once in a run.', 'Give every invocation an id of its own.'],
  'subagent-parent': ['The parent of a sub-agent has started in this run.', 'Start the parent first, or leave it out.'],
  'subagent-known': ['The end of a sub-agent names one that is active.', 'Send SUBAGENT_STARTED first, and one end.'],
  owner: [
    'What goes on with something names its owner or nobody.',
    'Leave `subagentRunId` out, or repeat that of the start.',
  ],
  'subagent-null': ['`subagentRunId` is a string or absent.', 'Leave it out instead of sending null.'],
  'chunk-conflict': ['A chunk says what the first one said, or nothing.', 'Say the same, or leave it out.'],
  'chunk-ambiguous': [
    'A chunk without an id goes on with the only thing of its kind that is open.',
    'Say the id, or `subagentRunId`, on every chunk.',
  ],
  'chunk-mixed': [
    'A message or a call is told in chunks, or with a start and an end, and never both ways.',
    'Go on as it was begun. Chunks have no end: the next event ends them.',
  ],
  'chunk-id': ['The first chunk says its id, and of a call its name.', 'Say the id on every chunk.'],
  terminal: ['A run ends with RUN_FINISHED or RUN_ERROR.', 'Send a terminal event, whatever has happened.'],
  'protocol-version': [
    'RUN_STARTED says the version that the agent speaks, as two numbers.',
    'Set `protocolVersion` to "1.0".',
  ],
  'run-ids': ['RUN_FINISHED has the ids of its RUN_STARTED.', 'Repeat `threadId` and `runId` as they were.'],
  'interrupt-ids': ['The interrupts of a run have different ids.', 'Give each interrupt an id of its own.'],
  'empty-delta': ['A delta says something.', 'Leave empty deltas out: clients before 0.0.52 fail on them.'],
  'message-id': [
    'A text, reasoning, a result and an activity never share an id.',
    'Give each message an id of its own: a client adds to the one that has it.',
  ],
  'pending-calls': [
    '`pendingToolCallIds` names calls that were made and that nobody has answered.',
    'Name the calls that wait for the client, and no others.',
  ],
  'cancelled-result': ['A run that was cancelled has no result.', 'Leave `result` out.'],
  'snapshot-encrypted': [
    'A snapshot repeats the encrypted values that were told.',
    'Put `encryptedValue` into the message or the call: without it, it is taken back.',
  ],
  usage: [
    'Usage has one entry for each model; its parts are not more than the whole, and its total is input and output.',
    'Add up what a model has used; count what is cached or reasoning in its whole.',
  ],
  'unknown-field': [
    'An event has no fields but those of its type.',
    'Put it under `metadata`, with a key of yours: clients remove what they do not know, and warn.',
  ],
  'metadata-key': ['The key `ag-ui` of metadata is the protocol’s own.', 'Use a key with a name of yours.'],
  'custom-name': [
    'The name of a CUSTOM event begins with whose it is.',
    'Put a prefix before it, as in `com.example.progress`: names without one are reserved.',
  ],
  retold: [
    'What the client has is told again by a snapshot, and not streamed once more.',
    'Send MESSAGES_SNAPSHOT: what is streamed under a known id is added to what is there.',
  ],
  reopened: [
    'What is opened again is what it was: its role and name, or its tool and message.',
    'Repeat what the first start said, or use another id.',
  ],
  'unanswered-call': [
    'When a run finishes, each of its calls has a result or is left to the client.',
    'Send TOOL_CALL_RESULT, empty if need be, or name the call in `pendingToolCallIds`.',
  ],
  'client-tool': [
    'A call of a tool that the client offers is neither answered by the agent nor interrupts the run.',
    'Finish the run and name the call in `pendingToolCallIds`: the client answers with its next request.',
  ],
  'patch-applies': [
    'A patch can be applied to what the client has, and leaves an activity an object.',
    'Send a snapshot where you are not sure: a patch that fails is skipped as a whole.',
  ],
  'activity-known': [
    'ACTIVITY_DELTA names an activity that was told by a snapshot.',
    'Send ACTIVITY_SNAPSHOT with that id first.',
  ],
  'subagent-first': [
    'A sub-agent that is announced is announced before what it does.',
    'Send SUBAGENT_STARTED before every event that names it.',
  ],
  'result-once': ['A call has one result.', 'Send the last result only: every one is another message.'],
};

export const aguiRules: readonly Rule[] = Object.entries(rules).map(([id, [sentence, fix]]) => ({ id, sentence, fix }));

import { a2aDefects } from '../../a2a/test/a2a-defects.ts';
import { responseDefects } from '../../openai/test/response-defects.ts';
import { protocols } from '../src/protocols.ts';

/** Stream with one defect, and the rule that it violates. */
export type Defect = readonly [rule: string, items: readonly unknown[]];

const run = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
const end = { type: 'run-end', outcome: 'complete' };
const toolCall = { type: 'tool-call', toolCallId: 'c', toolName: 'weather', input: {} };
const toolResult = { type: 'tool-result', toolCallId: 'c', status: 'ok', output: 1 };
const textStart = { type: 'text-start', id: 'a' };
const textEnd = { type: 'text-end', id: 'a' };
const question = { type: 'question', questionId: 'q', kind: 'input' };
const answer = { type: 'answer', questionId: 'q', value: 1 };
const snapshot = (...parts: unknown[]): object => ({ type: 'message-snapshot', content: { format: 2, parts } });

const canonical: Defect[] = [
  ['C0-shape', [run, { type: 'text-delta', id: 1 }, end]],
  ['C1-start', [run, run, end]],
  ['C1-end', [run, textStart, textEnd]],
  ['C2-id', [run, textStart, textEnd, { type: 'file', id: 'a', url: 'x' }, end]],
  ['C2-name', [run, question, question, end]],
  ['C3-open', [run, { type: 'text-delta', id: 'a', delta: 'x' }, end]],
  ['C3-close', [run, textStart, end]],
  ['C3-snapshot', [run, textStart, snapshot(), textEnd, end]],
  ['C4-call', [run, toolCall, toolCall, end]],
  ['C4-result', [run, toolResult, end]],
  ['C4-invalid', [run, { ...toolCall, invalid: { message: 'no' } }, end]],
  ['C4-refer', [run, answer, end]],
  ['C4-back', [run, toolCall, snapshot(), end]],
  ['C5-waiting', [run, { type: 'run-end', outcome: 'paused', waitingFor: [] }]],
  ['C5-answer', [run, question, answer, answer, end]],
  ['C6-agent', [run, { type: 'file', id: 'f', url: 'x', agentId: 'a' }, end]],
  ['C6-step', [run, { type: 'file', id: 'f', url: 'x', stepId: 's' }, end]],
  [
    'C6-once',
    [
      run,
      { type: 'tool-input-start', toolCallId: 'c', toolName: 'clock' },
      { type: 'tool-input-end', toolCallId: 'c' },
      toolCall,
      end,
    ],
  ],
  ['C7-baseline', [{ ...run, resumes: 'r0' }, textStart, textEnd, end]],
  [
    'C7-edit',
    [run, snapshot({ type: 'text', id: '0', text: 'said' }), snapshot({ type: 'text', id: '0', text: 'unsaid' }), end],
  ],
  ['C8-state', [run, { type: 'state-delta', patch: [] }, end]],
  [
    'C8-patch',
    [run, { type: 'state-snapshot', state: {} }, { type: 'state-delta', patch: [{ op: 'remove', path: '/x' }] }, end],
  ],
];

const start = { type: 'start', messageId: 'm' };
const finish = { type: 'finish' };
const [stepStart, stepEnd] = [{ type: 'start-step' }, { type: 'finish-step' }];
const text = [textStart, { type: 'text-delta', id: 'a', delta: 'Hi' }, textEnd];
const tool = { toolCallId: 'c', toolName: 'search' };
const available = { type: 'tool-input-available', ...tool, input: {} };
const output = { type: 'tool-output-available', toolCallId: 'c', output: 1 };

const uiMessageStream: Defect[] = [
  ['T0-shape', [start, { type: 'data-x' }, finish]],
  ['T1-text', [start, { type: 'text-delta', id: 'a', delta: 'x' }, finish]],
  ['T2-reasoning', [start, { type: 'reasoning-delta', id: 'a', delta: 'x' }, finish]],
  ['T3-input', [start, { type: 'tool-input-delta', toolCallId: 'c', inputTextDelta: 'x' }, finish]],
  ['T4-call', [start, output, finish]],
  ['T5-approval', [start, { type: 'tool-approval-response', approvalId: 'q', approved: true }, finish]],
  ['T6-step', [start, stepStart, textStart, stepEnd, textEnd, finish]],
  ['T7-metadata', [{ ...start, messageMetadata: 'text' }, finish]],
  ['T8-error', [start, { type: 'error', errorText: 'No.' }, textStart, textEnd]],
  ['S1-end', [start, textStart, finish]],
  ['S2-open', [start, textStart, ...text, finish]],
  ['S3-finish', [start, ...text]],
  ['S4-order', [start, stepEnd, finish]],
  ['S5-dynamic', [start, { type: 'tool-input-start', ...tool }, { ...available, dynamic: true }, finish]],
  ['S6-once', [start, available, available, finish]],
  ['S7-output', [start, available, output, output, finish]],
  ['S8-data', [start, { type: 'data-x', id: '1', data: 1 }, { type: 'data-y', id: '1', data: 2 }, finish]],
  ['S9-start', [start, ...text, { type: 'start', messageId: 'other' }, finish]],
  [
    'S10-replace',
    [
      start,
      { ...textStart, providerMetadata: { intertie: { agentId: 'ann' } } },
      { ...textEnd, providerMetadata: { openai: { itemId: 'i' } } },
      finish,
    ],
  ],
  ['S11-abort', [start, { type: 'abort' }, finish]],
  ['S12-empty', [start, stepStart, stepEnd, finish]],
  ['S13-result', [start, stepStart, available, output, ...text, stepEnd, finish]],
  ['S14-frame', [start, { type: 'data-x', data: JSON.parse('{"__proto__":1}') as unknown }, finish]],
];

const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' };
const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' };
const message = { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' };
const callStart = { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'search' };
const callResult = { type: 'TOOL_CALL_RESULT', messageId: 'x', toolCallId: 'c', content: '1' };
const reasoning = { type: 'REASONING_START', messageId: 'm' };
const step = { type: 'STEP_STARTED', stepName: 's' };
const subagent = { type: 'SUBAGENT_STARTED', subagentRunId: 'a', name: 'Ann' };
const interrupt = { id: 'i', reason: 'input_required', message: 'Go on?' };

const agUi: Defect[] = [
  ['shape', [started, { ...message, name: null }, { type: 'TEXT_MESSAGE_END', messageId: 'm' }, finished]],
  ['state-delta-field', [started, { type: 'STATE_DELTA', patch: [] }, finished]],
  [
    'activity-delta-field',
    [started, { type: 'ACTIVITY_DELTA', messageId: 'a', activityType: 'PLAN', delta: [] }, finished],
  ],
  ['known-type', [started, { type: 'THINKING_HARD' }, finished]],
  ['run-first', [message, { type: 'TEXT_MESSAGE_END', messageId: 'm' }]],
  ['run-once', [started, started, finished]],
  ['after-finish', [started, finished, message]],
  ['after-error', [started, { type: 'RUN_ERROR', message: 'No.' }, finished]],
  ['finish-closed', [started, message, finished]],
  ['text-open', [started, message, message, finished]],
  ['text-known', [started, { type: 'TEXT_MESSAGE_END', messageId: 'm' }, finished]],
  ['call-open', [started, callStart, callStart, finished]],
  ['call-known', [started, { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{' }, finished]],
  ['step-open', [started, step, step, finished]],
  ['step-known', [started, { type: 'STEP_FINISHED', stepName: 's' }, finished]],
  ['reasoning-open', [started, reasoning, reasoning, finished]],
  ['reasoning-known', [started, { type: 'REASONING_END', messageId: 'm' }, finished]],
  ['subagent-once', [started, subagent, subagent, finished]],
  ['subagent-parent', [started, { ...subagent, parentSubagentRunId: 'z' }, finished]],
  ['subagent-known', [started, { type: 'SUBAGENT_FINISHED', subagentRunId: 'a' }, finished]],
  ['chunk-id', [started, { type: 'TOOL_CALL_CHUNK', delta: '{}' }, finished]],
  ['terminal', [started]],
  ['protocol-version', [{ ...started, protocolVersion: undefined }, finished]],
  ['run-ids', [started, { ...finished, runId: 'other' }]],
  ['interrupt-ids', [started, { ...finished, outcome: { type: 'interrupt', interrupts: [interrupt, interrupt] } }]],
  ['empty-delta', [started, message, { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: '' }, finished]],
  ['result-once', [started, callResult, callResult, finished]],
  ['owner', [started, message, { type: 'TEXT_MESSAGE_END', messageId: 'm', subagentRunId: 's' }, finished]],
  ['subagent-null', [started, { ...message, subagentRunId: null }, finished]],
  [
    'chunk-conflict',
    [
      started,
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: 'a' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', role: 'user', delta: 'b' },
      finished,
    ],
  ],
  ['message-id', [started, message, { ...callResult, messageId: 'm' }, finished]],
  [
    'pending-calls',
    [started, callStart, callResult, { ...finished, outcome: { type: 'success', pendingToolCallIds: ['c'] } }],
  ],
  ['cancelled-result', [started, { ...finished, outcome: { type: 'cancelled' }, result: 1 }]],
  [
    'snapshot-encrypted',
    [
      started,
      { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'm', encryptedValue: 'x' },
      { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'reasoning', content: '' }] },
      finished,
    ],
  ],
  ['usage', [started, { ...finished, usage: [{ model: 'a' }, { model: 'a' }] }]],
  ['unknown-field', [started, { ...finished, finishReason: 'stop' }]],
  ['metadata-key', [started, { ...finished, metadata: { 'ag-ui': {} } }]],
  ['custom-name', [started, { type: 'CUSTOM', name: 'progress', value: 1 }, finished]],
  [
    'retold',
    [
      started,
      { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'Hi' }] },
      message,
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hi' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      finished,
    ],
  ],
  [
    'reopened',
    [
      started,
      message,
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      { ...message, role: 'user' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      finished,
    ],
  ],
  [
    'unanswered-call',
    [
      { ...started, input: { threadId: 't', runId: 'r', messages: [], tools: [{ name: 'ask', description: '' }] } },
      callStart,
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
      finished,
    ],
  ],
  [
    'client-tool',
    [
      { ...started, input: { threadId: 't', runId: 'r', messages: [], tools: [{ name: 'search', description: '' }] } },
      callStart,
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
      callResult,
      finished,
    ],
  ],
  [
    'patch-applies',
    [
      started,
      { type: 'STATE_SNAPSHOT', snapshot: {} },
      { type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/n' }] },
      finished,
    ],
  ],
  ['activity-known', [started, { type: 'ACTIVITY_DELTA', messageId: 'a', activityType: 'PLAN', patch: [] }, finished]],
  [
    'subagent-first',
    [
      started,
      { ...message, subagentRunId: 'a' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      subagent,
      { type: 'SUBAGENT_FINISHED', subagentRunId: 'a' },
      finished,
    ],
  ],
  [
    'chunk-mixed',
    [
      started,
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: 'a' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      finished,
    ],
  ],
  [
    'chunk-ambiguous',
    [
      started,
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', subagentRunId: 'a', delta: 'a' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'n', subagentRunId: 'b', delta: 'b' },
      { type: 'TEXT_MESSAGE_CHUNK', delta: 'c' },
      finished,
    ],
  ],
];

const logged = { task_id: 't', description: 'said', extra_data: {} };
const newMessage = (type: string, data: object = {}): object => ({
  event: 'new_message',
  data: { ...logged, extra_data: { full_message: { msg_type: type, message: {} } }, ...data },
});
const final = newMessage('broadcast_complete');
const complete = { event: 'task_complete', data: { task_id: 't', response: 'Done.' } };

const mail: Defect[] = [
  ['frame', [final, { data: {} }, complete]],
  ['json', [final, { event: 'new_message', data: "{'task_id': 't'}" }, complete]],
  ['task', [final, newMessage('request', { task_id: 'other' }), complete]],
  ['description', [newMessage('broadcast_complete', { description: undefined }), complete]],
  ['message', [final, { event: 'new_message', data: logged }, complete]],
  ['tool', [final, { event: 'tool_call', data: logged }, complete]],
  ['resume', [{ event: 'task_complete_call_duplicate', data: logged }, complete]],
  ['answer', [{ event: 'help_called', data: logged }, complete]],
  ['end', [final]],
];

const user = { role: 'user', content: 'hi' };
const callMessage = (id = 'c', fields: object = {}): object => ({
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: id, toolName: 'weather', input: {}, ...fields }],
});
const resultMessage = (id = 'c'): object => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: id, toolName: 'weather', output: { type: 'text', value: 'sun' } }],
});
const assistant = (...content: object[]): object => ({ role: 'assistant', content });
const textMessage = assistant({ type: 'text', text: 'Hello' });

const modelMessages: Defect[] = [
  ['M0-shape', [user, { role: 'user', parts: [] }]],
  ['M1-system', [user, { role: 'system', content: 'Now be long.' }]],
  ['M2-first', [textMessage, user]],
  ['M2-last', [user, textMessage]],
  ['M3-empty', [user, assistant(), user]],
  ['M4-id', [user, callMessage('run:1'), resultMessage('run:1')]],
  ['M4-name', [user, callMessage('a', { toolName: 'my tool' }), resultMessage('a')]],
  ['M4-input', [user, callMessage('a', { input: '{}' }), resultMessage('a')]],
  ['M5-answered', [user, callMessage(), user]],
  ['M5-next', [user, callMessage(), textMessage, resultMessage()]],
  ['M5-orphan', [user, resultMessage()]],
  ['M6-reasoning', [user, assistant({ type: 'reasoning', text: 'hm' }), user]],
  [
    'M7-approval',
    [user, { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'q', approved: true }] }],
  ],
  ['M8-file', [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: '/a.png' }] }]],
];

const flowEnd = { type: 'flow:complete', flowName: 'f', status: 'complete' };
const node = { nodeId: 'n', runId: 'r' };

const openHarness: Defect[] = [
  ['event', [{ type: 'flow:start', flowName: 'f' }, { hello: 1 }, flowEnd]],
  ['fields', [{ type: 'node:start', nodeId: 'n' }, flowEnd]],
  ['node', [{ type: 'node:complete', ...node, output: 1 }, flowEnd]],
  [
    'whole',
    [{ type: 'agent:text:delta', ...node, content: 'a' }, { type: 'agent:text', ...node, content: 'b' }, flowEnd],
  ],
  ['late', [flowEnd, { type: 'node:start', ...node }]],
  [
    'end',
    [
      { type: 'flow:start', flowName: 'f' },
      { type: 'node:start', ...node },
    ],
  ],
  [
    'item',
    [
      { name: 'workflow:started', payload: {} },
      { hello: 1 },
      { name: 'workflow:completed', payload: { finalState: {} } },
    ],
  ],
];

const aiSdk: Defect[] = [
  ['item', [{ type: 'start' }, { type: 'hologram' }, { type: 'finish', finishReason: 'stop', totalUsage: {} }]],
  ['end', [{ type: 'start' }, { type: 'text-start', id: '0' }, { type: 'text-delta', id: '0', text: 'x' }]],
];

export const defects: { readonly [protocol: string]: readonly Defect[] } = {
  canonical,
  'ui-message-stream': uiMessageStream,
  'ag-ui': agUi,
  mail,
  'model-messages': modelMessages,
  'open-harness': openHarness,
  'ai-sdk': aiSdk,
  'openai-responses': responseDefects,
  a2a: a2aDefects,
};

/** Lists rules that no defect violates. */
export function uncovered(): string[] {
  return protocols.flatMap(({ name, rules }) => {
    const covered = new Set(defects[name]?.map(([rule]) => rule));
    return rules.filter(({ id }) => !covered.has(id)).map(({ id }) => `${name} ${id}`);
  });
}

const ids = { taskId: 't', contextId: 'c' };
const toTask = (fields: object = {}): object => ({
  task: { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' }, ...fields },
});
const toUpdate = (artifact: object, flags: object = {}): object => ({
  artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text: 'Hi' }], ...artifact }, ...flags },
});
const toStatus = (status: object, fields: object = {}): object => ({ statusUpdate: { ...ids, status, ...fields } });

const task = toTask();
const text = toUpdate({});
const completed = toStatus({ state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-31T12:00:00.000Z' });
const message = { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] } };

/** Valid stream of a task. */
export const validTask: readonly object[] = [task, text, toUpdate({}, { append: true, lastChunk: true }), completed];

/** Streams with one defect each, and the rule that it violates. */
export const a2aDefects: ReadonlyArray<readonly [rule: string, items: readonly unknown[]]> = [
  ['item', [task, { ...text, ...completed }, completed]],
  ['first', [text, completed]],
  ['message-only', [message, text]],
  ['message-only', [task, message, completed]],
  ['ids', [task, toStatus({ state: 'TASK_STATE_COMPLETED' }, { taskId: 'other' })]],
  ['state', [task, toStatus({ state: 'working' }), completed]],
  ['timestamp', [task, toStatus({ state: 'TASK_STATE_COMPLETED', timestamp: 1_769_860_800_000 })]],
  ['artifact', [task, toUpdate({ parts: [] }), completed]],
  ['part', [task, toUpdate({ parts: [{ text: 'Hi', url: 'https://x/a' }] }), completed]],
  ['append', [task, toUpdate({}, { append: true }), completed]],
  ['last-chunk', [task, toUpdate({}, { lastChunk: true }), toUpdate({}, { append: true }), completed]],
  ['after-end', [...validTask, text]],
  ['end', validTask.slice(0, -1)],
];

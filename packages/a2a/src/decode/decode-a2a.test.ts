import { arbitraryContinuation, arbitraryRun } from '@intertie/conformance/arbitraries';
import { compose, foldEvents, seal, transcode, type AgentEvent, type ResumePoint, type RunInput } from '@intertie/core';
import { createResumePoint, omit } from '@intertie/core/internal';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createA2AEncoder } from '../encode/encode-a2a.ts';
import type { A2AStreamItem } from '../shared/a2a-types.ts';
import { createA2ADecoder } from './decode-a2a.ts';

const run: RunInput = {
  runId: 'r',
  threadId: 'c',
  messageId: 't',
  startedAt: 0,
  history: [],
  answers: [],
  tools: [],
  context: [],
};
const ids = { taskId: 'T', contextId: 'C' };
const working = { task: { id: 'T', contextId: 'C', status: { state: 'TASK_STATE_WORKING' } } };
const status = (state: string, ...parts: object[]): object => ({
  statusUpdate: {
    ...ids,
    status: { state: `TASK_STATE_${state}`, ...(parts.length > 0 && { message: { messageId: 'm', parts } }) },
  },
});
const chunk = (artifactId: string, text: string, flags: object = {}): object => ({
  artifactUpdate: { ...ids, artifact: { artifactId, parts: [{ text }] }, ...flags },
});

function decode(items: readonly unknown[], input = run, from?: ResumePoint): AgentEvent[] {
  const codec = compose(
    createA2ADecoder(input, { ...(from && { from }) }),
    seal(input, () => undefined, { ...(from && { log: from.events }) }),
  );
  return transcode(codec, items).map((event) => omit(event, 'at') as AgentEvent);
}

const readText = (events: readonly AgentEvent[]): string =>
  events.map((event) => (event.type === 'text-delta' ? event.delta : '')).join('');

describe('createA2ADecoder', () => {
  it('decodes a task with an artifact that grows', () => {
    const items = [
      working,
      chunk('a', 'Hel'),
      chunk('a', 'lo', { append: true, lastChunk: true }),
      status('COMPLETED'),
    ];
    expect(decode(items).slice(1)).toEqual([
      { type: 'checkpoint', token: ids },
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'Hel' },
      { type: 'text-delta', id: 'a', delta: 'lo' },
      { type: 'text-end', id: 'a' },
      { type: 'run-end', outcome: 'complete', resume: ids },
    ]);
  });

  it('reads items in JSON-RPC responses', () => {
    const items = [working, status('COMPLETED')].map((result) => ({ jsonrpc: '2.0', id: 1, result }));
    expect(decode(items).at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete' });
    const failed = [{ jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'Task not found' } }];
    expect(decode(failed).at(-1)).toMatchObject({
      outcome: 'error',
      error: { code: 'a2a-32001', message: 'Task not found' },
    });
  });

  it('decodes a message as the complete answer', () => {
    const events = decode([
      { message: { messageId: 'm', contextId: 'C', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] } },
    ]);
    expect(readText(events)).toBe('Hi');
    expect(events.at(-1)).toEqual({ type: 'run-end', outcome: 'complete', resume: { contextId: 'C' } });
  });

  it('decodes the message of a completed status as text, unless an artifact has it', () => {
    expect(readText(decode([working, status('COMPLETED', { text: 'Done' })]))).toBe('Done');
    const items = [working, chunk('a', 'Done', { lastChunk: true }), status('COMPLETED', { text: 'Done' })];
    expect(readText(decode(items))).toBe('Done');
  });

  it('decodes files and data, each with its own id', () => {
    const parts = [{ raw: 'aGk=', mediaType: 'text/plain' }, { url: 'https://x/a' }, { data: { a: 1 } }, { data: 2 }];
    const artifact = { artifactId: 'a', name: 'n', parts };
    const events = decode([working, { artifactUpdate: { ...ids, artifact } }, status('COMPLETED')]);
    expect(events.slice(2, -1)).toEqual([
      { type: 'file', id: 'a', data: 'aGk=', mimeType: 'text/plain', filename: 'n' },
      { type: 'file', id: 'a:1', url: 'https://x/a', filename: 'n' },
      { type: 'data', id: 'a:2', name: 'n', data: { a: 1 } },
      { type: 'data', id: 'a:3', name: 'n', data: 2 },
    ]);
  });

  it.each([
    { state: 'FAILED', end: { outcome: 'error', error: { message: 'Why', code: 'a2a-failed' } } },
    { state: 'REJECTED', end: { outcome: 'error', error: { message: 'Why', code: 'a2a-rejected' } } },
    { state: 'CANCELED', end: { outcome: 'aborted', by: 'system', reason: 'Why' } },
  ])('decodes $state as $end.outcome', ({ state, end }) => {
    expect(decode([working, status(state, { text: 'Why' })]).at(-1)).toMatchObject(end);
  });

  it('decodes input of any agent as a question that is answered with text', () => {
    const events = decode([working, status('INPUT_REQUIRED', { text: 'Which city?' })]);
    const providerMetadata = { a2a: { answer: 'text' } };
    expect(events.slice(2)).toEqual([
      { type: 'question', questionId: 'm', kind: 'input', message: 'Which city?', providerMetadata },
      { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'm' }], resume: ids },
    ]);
  });

  it('decodes structured input requests', () => {
    const question = { questionId: 'q', kind: 'approval', message: 'Send it?', tool: 'send', input: {} };
    const call = { questionId: 'c', kind: 'client-tool', tool: 'locate', input: { a: 1 } };
    const events = decode([
      working,
      status('INPUT_REQUIRED', { text: 'Send it?' }, { data: question }, { data: call }),
    ]);
    expect(events.slice(2, 4)).toEqual([
      {
        type: 'question',
        questionId: 'q',
        kind: 'approval',
        message: 'Send it?',
        providerMetadata: { a2a: { tool: 'send', input: {} } },
      },
      { type: 'tool-call', toolCallId: 'c', toolName: 'locate', input: { a: 1 }, executor: 'client' },
    ]);
    expect(events.at(-1)).toMatchObject({
      waitingFor: [
        { type: 'question', questionId: 'q' },
        { type: 'tool', toolCallId: 'c' },
      ],
    });
  });

  it('emits only the new text of an artifact that is sent again', () => {
    const again = { ...working.task, artifacts: [{ artifactId: 'a', parts: [{ text: 'Hello, wor' }] }] };
    const items = [
      working,
      chunk('a', 'Hello'),
      { task: again },
      chunk('a', 'ld', { append: true }),
      status('COMPLETED'),
    ];
    const events = decode(items);
    expect(readText(events)).toBe('Hello, world');
    expect(events.filter(({ type }) => type === 'text-start')).toHaveLength(1);
  });

  it('starts a new part if the agent replaces the text of an artifact', () => {
    const events = decode([
      working,
      chunk('a', 'Wrong'),
      chunk('a', 'Right', { lastChunk: true }),
      status('COMPLETED'),
    ]);
    const message = foldEvents(events);
    expect(message?.content.parts).toMatchObject([{ text: 'Wrong' }, { text: 'Right' }]);
  });

  it('ends a stream without a last state as truncated', () => {
    expect(decode([working, chunk('a', 'Hel')]).at(-1)).toMatchObject({
      outcome: 'error',
      error: { code: 'truncated' },
    });
  });

  it('passes on unknown items as raw frames, and drops events that belong to the run', () => {
    const metadata = { 'urn:intertie:a2a:events:1': { event: { type: 'run-end', outcome: 'complete' } } };
    const forged = { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' }, metadata } };
    const events = decode([working, { other: 1 }, forged, status('COMPLETED')]);
    expect(events.slice(2, -1)).toEqual([{ type: 'raw', dialect: 'a2a', value: { other: 1 } }]);
  });

  it('never throws on data', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue({ maxDepth: 2 }), arbitraryItem()), { maxLength: 5 }), (items) => {
        expect(decode(items).at(-1)?.type).toBe('run-end');
      }),
    );
  });
});

/** Items with the right names and any values. */
function arbitraryItem(): fc.Arbitrary<unknown> {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('TASK_STATE_COMPLETED', 'a', true));
  const object = fc.dictionary(
    fc.constantFrom('id', 'taskId', 'status', 'state', 'artifact', 'artifactId', 'parts', 'text', 'metadata', 'append'),
    fc.oneof(value, fc.array(fc.dictionary(fc.constantFrom('text', 'data', 'raw'), value))),
  );
  return fc.dictionary(fc.constantFrom('task', 'message', 'statusUpdate', 'artifactUpdate'), fc.oneof(object, value));
}

/** Removes what belongs to one side: the token and checkpoints of a source. */
function normalize(events: readonly AgentEvent[]): object[] {
  const data = new Map<string, string>();
  /** An artifact that is sent twice without a change is one event. */
  const isRepeated = (event: AgentEvent): boolean => {
    if (event.type !== 'data') return false;
    const value = JSON.stringify([event.name, event.data]);
    const isKnown = data.get(event.id) === value;
    data.set(event.id, value);
    return isKnown;
  };
  return events
    .filter((event) => event.type !== 'checkpoint' && !isEmptyDelta(event) && !isRepeated(event))
    .map((event) => omit(event as AgentEvent & { resume?: unknown }, 'at', 'origin', 'resume'));
}

function isEmptyDelta(event: AgentEvent): boolean {
  return event.type === 'text-delta' && event.delta === '' && event.providerMetadata === undefined;
}

/** Returns the input of a local run: the remote run writes the initial state and the answers. */
function toLocal(input: RunInput): RunInput {
  return { ...omit(input, 'state'), answers: [] };
}

function encode(events: AgentEvent[], extension = true): A2AStreamItem[] {
  return transcode(createA2AEncoder({ extension }), events);
}

describe('a round trip with the extension', () => {
  const sealEvents = (input: RunInput, events: AgentEvent[]): AgentEvent[] =>
    transcode(
      seal(input, () => undefined),
      events,
    );

  it('preserves the events of every run', () => {
    fc.assert(
      fc.property(arbitraryRun(), ({ run: input, events }) => {
        const sealed = sealEvents(input, events);
        expect(normalize(decode(encode(sealed), toLocal(input)))).toEqual(normalize(sealed));
      }),
    );
  });

  it('preserves the message of every continuation', () => {
    fc.assert(
      fc.property(arbitraryContinuation(), ({ continued: { run: input, events } }) => {
        const sealed = sealEvents(input, events);
        const expected = foldEvents(sealed);
        const message = foldEvents(decode(encode(sealed), toLocal(input)));
        expect(message?.content.parts).toEqual(expected?.content.parts);
      }),
    );
  });

  it.each([true, false])('resumes after any event without repeating content, with the extension: %s', (extension) => {
    const property = fc.property(arbitraryRun(), fc.nat(), fc.nat(), ({ run: input, events }, atLog, atServer) => {
      const remote = sealEvents(input, events);
      // Without the extension, a discarded step leaves empty artifacts.
      fc.pre(extension || !remote.some((event) => event.type === 'step-end' && event.discarded));
      const complete = decode(encode(remote, extension), toLocal(input));
      const log = complete.slice(0, 1 + (atLog % complete.length));
      if (log.at(-1)?.type === 'run-end' || !log.some(({ type }) => type === 'checkpoint')) return;
      const { threadId, messageId: id } = input;
      const content = { format: 2 as const, parts: [] };
      const stored = {
        id,
        threadId,
        role: 'assistant' as const,
        type: 'text' as const,
        content,
        createdAt: new Date(0),
      };
      const from = createResumePoint(stored, log);
      // The server has at least the events that the log has.
      const encoder = createA2AEncoder({ extension });
      const items: A2AStreamItem[] = [];
      const emit = (item: A2AStreamItem): void => void items.push(item);
      const position = Math.max(1, atServer % remote.length);
      encoder.open?.({ events: remote.slice(0, position) }, emit);
      for (const event of remote.slice(position)) encoder.feed(event, emit);
      const rest = decode(items, { ...toLocal(input), epoch: 2 }, from);
      const expected = foldEvents(complete);
      const message = foldEvents([...log, ...rest]);
      expect(summarize(message?.content.parts)).toEqual(summarize(expected?.content.parts));
    });
    fc.assert(property);
  });
});

/** Contents of the parts, independent of their order. */
function summarize(parts: readonly object[] | undefined): string[] {
  return (parts ?? [])
    .map((part) => JSON.stringify({ ...part, id: undefined, providerMetadata: undefined }))
    .toSorted();
}

import { afterEach, describe, expect, it, vi } from 'vitest';
import { readAll } from '../../test/read-all.ts';
import { runControl } from '../../test/run-control.ts';
import { runInput } from '../../test/run-input.ts';
import type { Codec } from '../codec/codec.ts';
import type { AgentEvent } from '../event/event.ts';
import { foldEvents } from '../message/message-list.ts';
import type { CanonicalMessage, MessageContent } from '../event/message.ts';
import type { RunInput } from '../event/run-input.ts';
import { createResumePoint } from '../run/resume-point.ts';
import { parseTape } from './read-tape.ts';
import { tapeSource } from './tape-source.ts';
import { CANONICAL, type Tape } from './tape.ts';
import { formatTape } from './write-tape.ts';

const events: AgentEvent[] = [
  { type: 'run-start', runId: 'old', threadId: 'old', messageId: 'old', at: 1000 },
  { type: 'agent-start', agentId: 'a', name: 'Ada', kind: 'agent', at: 1000 },
  { type: 'step-start', stepId: 's', agentId: 'a', at: 1001 },
  { type: 'text-start', id: 'old:0', agentId: 'a', stepId: 's', at: 1002 },
  { type: 'text-delta', id: 'old:0', delta: 'Hello' },
  { type: 'text-end', id: 'old:0', at: 1003 },
  { type: 'tool-call', toolCallId: 'call_1', toolName: 'buy', input: { id: 'old:0' }, agentId: 'a', at: 1004 },
  { type: 'question', questionId: 'q', kind: 'approval', toolCallId: 'call_1', at: 1005 },
  { type: 'step-end', stepId: 's', at: 1006 },
  {
    type: 'agent-end',
    agentId: 'a',
    outcome: 'paused',
    waitingFor: [{ type: 'tool', toolCallId: 'call_1' }],
    at: 1007,
  },
  { type: 'run-end', outcome: 'paused', waitingFor: [{ type: 'question', questionId: 'q' }], at: 1008 },
];
const tape: Tape<AgentEvent> = {
  header: { tape: 1, dialect: CANONICAL },
  items: events.map((item, index) => ({ t: index * 100, item })),
};

function collectIds(list: AgentEvent[]): Set<string> {
  const ids = new Set<string>();
  for (const event of list) {
    for (const [key, value] of Object.entries(event)) {
      if (/^(id|toolCallId|agentId|stepId|questionId)$/.test(key)) ids.add(value as string);
    }
  }
  return ids;
}

afterEach(() => {
  vi.useRealTimers();
});

describe('tapeSource', () => {
  const source = tapeSource(tape, { speed: Infinity });

  it('plays a canonical tape with the ids and the start time of the run', async () => {
    const run = runInput({ runId: 'new', startedAt: 5000 });
    const played = await readAll(source.run(run, runControl()));
    expect(played.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
    expect(played[0]).toMatchObject({ runId: 'new', threadId: 'thread', messageId: 'message', at: 5000 });
    expect(played.map(({ at }) => at)).toEqual(events.map(({ at }) => at && at + 4000));
    expect(foldEvents(played)?.content.parts).toMatchObject([
      { type: 'text', text: 'Hello' },
      { type: 'tool-invocation', args: { id: 'old:0' }, approval: { kind: 'approval' } },
    ]);
    expect(played.at(-1)).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'question' }] });
  });

  it('never reuses an id of the thread', async () => {
    const first = await readAll(source.run(runInput({ runId: 'one' }), runControl()));
    const message = foldEvents(first)!;
    const second = await readAll(source.run(runInput({ runId: 'two', history: [message] }), runControl()));
    const same = await readAll(source.run(runInput({ runId: 'one', history: [message] }), runControl()));
    expect(collectIds(first).size).toBe(5);
    const parts = new Set(message.content.parts.map((part) => part.id));
    expect([...collectIds(second)].filter((id) => collectIds(first).has(id) || collectIds(events).has(id))).toEqual([]);
    expect([...collectIds(same)].filter((id) => parts.has(id))).toEqual([]);
  });

  it('plays a tape that was formatted and parsed', async () => {
    const read = parseTape(formatTape(JSON.parse(JSON.stringify(tape)) as Tape));
    const again = await readAll(tapeSource(read, { speed: Infinity }).run(runInput(), runControl()));
    expect(again).toEqual(await readAll(source.run(runInput(), runControl())));
  });

  it('plays at the given speed and stops on an abort', async () => {
    vi.useFakeTimers();
    const stop = new AbortController();
    const seen: AgentEvent[] = [];
    const playing = tapeSource(tape, { speed: 10 })
      .run(runInput(), runControl({ signal: stop.signal }))
      .pipeTo(new WritableStream({ write: (event) => void seen.push(event) }));
    await vi.advanceTimersByTimeAsync(0);
    expect(seen.at(-1)).toMatchObject({ type: 'run-start' });
    await vi.advanceTimersByTimeAsync(30);
    expect(seen.at(-1)).toMatchObject({ type: 'text-start' });
    stop.abort();
    await playing;
    expect(seen.at(-1)).toMatchObject({ type: 'run-end', outcome: 'aborted', by: 'user' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('clears its timers when the reader cancels', async () => {
    vi.useFakeTimers();
    const reader = tapeSource(tape).run(runInput(), runControl()).getReader();
    await reader.read();
    const reading = reader.read();
    await vi.advanceTimersByTimeAsync(50);
    expect(vi.getTimerCount()).toBe(1);
    await reader.cancel();
    await reading;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends the run of a truncated tape with an error', async () => {
    const cut = tapeSource({ ...tape, items: tape.items.slice(0, 5) }, { speed: Infinity });
    const played = await readAll(cut.run(runInput(), runControl()));
    expect(played.slice(-4).map(({ type }) => type)).toEqual(['text-end', 'step-end', 'agent-end', 'run-end']);
    expect(played.at(-1)).toMatchObject({ outcome: 'error', error: { code: 'truncated' } });
  });

  it('decodes another dialect with the given decoder', async () => {
    const decoder = (): Codec<unknown, AgentEvent> => ({
      feed: (item, emit) => emit({ type: 'notice', level: 'info', message: String(item) }),
      end() {},
    });
    const mail = { header: { tape: 1 as const, dialect: 'mail' }, items: [{ t: 0, item: 'ping' }] };
    const played = await readAll(tapeSource(mail, { speed: Infinity, decoder }).run(runInput(), runControl()));
    expect(played[1]).toMatchObject({ type: 'notice', message: 'ping' });
    expect(() => tapeSource(mail)).toThrow(/"mail".*decoder/);
  });

  it('rejects an invalid speed immediately', () => {
    expect(() => tapeSource(tape, { speed: 0 })).toThrow(RangeError);
  });

  describe('resume', () => {
    const stored = (content: MessageContent = { format: 2, parts: [] }): CanonicalMessage => ({
      id: 'message',
      threadId: 'thread',
      role: 'assistant',
      type: 'text',
      content,
      createdAt: new Date(0),
    });
    const resumeFrom = async (
      log: AgentEvent[],
      given: Partial<RunInput> = {},
      from = source,
    ): Promise<AgentEvent[]> => {
      const input = runInput({ epoch: 2, ...given });
      return await readAll(from.resume!(input, createResumePoint(stored(given.message), log), runControl()));
    };

    it('continues after every event with the events of an undisturbed run', async () => {
      const whole = await readAll(source.run(runInput(), runControl()));
      for (let length = 0; length < whole.length; length += 1) {
        expect(await resumeFrom(whole.slice(0, length)), `after ${length} events`).toEqual(whole.slice(length));
      }
    });

    it('continues a run that has a baseline, an answer and a state after every event', async () => {
      const given: Partial<RunInput> = {
        resumes: 'before',
        state: { n: 1 },
        answers: [{ toolCallId: 'asked', status: 'ok', output: 1 }],
        message: {
          format: 2,
          parts: [
            {
              type: 'tool-invocation',
              toolCallId: 'asked',
              toolName: 'ask',
              args: {},
              state: 'call',
              executor: 'client',
            },
          ],
        },
      };
      const whole = await readAll(source.run(runInput(given), runControl()));
      for (let length = 0; length < whole.length; length += 1) {
        expect(await resumeFrom(whole.slice(0, length), given), `after ${length} events`).toEqual(whole.slice(length));
      }
    });

    it('continues after merged deltas, a takeover and within a delta', async () => {
      const whole = await readAll(source.run(runInput(), runControl()));
      const start = whole.findIndex(({ type }) => type === 'text-delta');
      const recovered: AgentEvent = { type: 'notice', level: 'info', code: 'recovered', message: '' };
      const id = 'run:2';
      const log: AgentEvent[] = [...whole.slice(0, start), { type: 'text-delta', id, delta: 'He' }, recovered];
      const rest = await resumeFrom(log, { epoch: 3 });
      expect(rest).toEqual([{ type: 'text-delta', id, delta: 'llo' }, ...whole.slice(start + 1)]);
    });

    it('continues after a reasoning delta whose text was not stored', async () => {
      const reasoning: AgentEvent[] = [
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
        { type: 'reasoning-end', id: 'r' },
      ];
      const items = [...events.slice(0, 3), ...reasoning, ...events.slice(3)].map((item) => ({ t: 0, item }));
      const thinking = tapeSource({ ...tape, items }, { speed: Infinity });
      const whole = await readAll(thinking.run(runInput(), runControl()));
      const end = whole.findIndex(({ type }) => type === 'reasoning-delta') + 1;
      const log = whole
        .slice(0, end)
        .map((event) => (event.type === 'reasoning-delta' ? { ...event, delta: '' } : event));
      const rest = await resumeFrom(log, {}, thinking);
      expect(rest.map(({ type }) => type)).toEqual(whole.slice(end - 1).map(({ type }) => type));
    });

    it('ends as lost if the tape has changed', async () => {
      const whole = await readAll(source.run(runInput(), runControl()));
      const changed = tapeSource({ ...tape, items: tape.items.slice(0, 3) }, { speed: Infinity });
      const rest = await resumeFrom(whole.slice(0, 7), {}, changed);
      expect(rest.at(-1)).toMatchObject({ type: 'run-end', outcome: 'error', error: { code: 'lost' } });
    });
  });
});

import { canonical, check } from '@intertie/conformance';
import {
  compose,
  foldEvents,
  seal,
  transcode,
  type AgentEvent,
  type AgentSource,
  type CanonicalMessage,
  type EventOf,
  type Loss,
} from '@intertie/core';
import { createResumePoint, omit } from '@intertie/core/internal';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readAll } from '../../../core/test/read-all.ts';
import { runControl } from '../../../core/test/run-control.ts';
import { runInput } from '../../test/run-input.ts';
import { readLines } from '../../test/traces.ts';
import { createOpenHarnessServerDecoder } from './decode-open-harness-server.ts';
import { openHarnessServerSource } from './open-harness-server-source.ts';
import type { ServerEvent } from './server-event.ts';

const names = ['simple', 'phases', 'hitl', 'error'] as const;
const readEvents = (name: (typeof names)[number]): ServerEvent[] => readLines(`head-4645c5d/${name}.jsonl`);
const ofType = <Type extends AgentEvent['type']>(events: AgentEvent[], type: Type): Array<EventOf<Type>> =>
  events.filter((event): event is EventOf<Type> => event.type === type);
const getEnd = (events: AgentEvent[]): EventOf<'run-end'> => events.at(-1) as EventOf<'run-end'>;

function decode(inputs: unknown[]): { events: AgentEvent[]; losses: Loss[] } {
  const losses: Loss[] = [];
  const onLoss = (loss: Loss): void => void losses.push(loss);
  const codec = compose(createOpenHarnessServerDecoder(runInput(), { onLoss }), seal(runInput(), onLoss));
  return { events: transcode(codec, inputs), losses };
}

describe.each(names)('server recording %s', (name) => {
  test('decodes to the reviewed events', async () => {
    const { events, losses } = decode(readEvents(name));
    expect(check(canonical, events).violations).toEqual([]);
    expect(losses.filter(({ kind }) => kind === 'repaired')).toEqual([]);
    const lines = events.map((event) => JSON.stringify(event));
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`../../fixtures/decoded/head-${name}.txt`);
  });

  test('follows the canonical rules at every cut', () => {
    const recorded = readEvents(name);
    for (let cut = 0; cut <= recorded.length; cut += 1) {
      expect(check(canonical, decode(recorded.slice(0, cut)).events).violations, `cut at ${cut}`).toEqual([]);
    }
  });
});

describe('createOpenHarnessServerDecoder', () => {
  test('decodes phases as nodes with agents, and keeps tool call ids', () => {
    const { events } = decode(readEvents('phases'));
    expect(ofType(events, 'agent-start').map(({ name, kind }) => [name, kind])).toEqual([
      ['plan', 'node'],
      ['talker', 'agent'],
      ['fan', 'node'],
      ['worker', 'agent'],
      ['worker', 'agent'],
      ['worker', 'agent'],
      ['done', 'node'],
    ]);
    expect(ofType(events, 'tool-call').map(({ toolCallId }) => toolCallId)).toEqual(['tu1', 'tu2']);
    expect(ofType(events, 'tool-result').map(({ status }) => status)).toEqual(['ok', 'error']);
    expect(getEnd(events)).toMatchObject({ outcome: 'complete', result: { goal: 'hi' } });
    expect(ofType(events, 'state-delta').length).toBeGreaterThan(0);
  });

  test('decodes a question and the answer that names it', () => {
    const { events } = decode(readEvents('hitl'));
    const [question] = ofType(events, 'question');
    expect(question).toMatchObject({ kind: 'approval', message: 'Ship it?' });
    expect(ofType(events, 'answer')).toMatchObject([
      { questionId: question!.questionId, approved: true, value: 'yes' },
    ]);
    expect(ofType(events, 'raw')).toHaveLength(1);
    expect(getEnd(events)).toMatchObject({ outcome: 'error', error: { code: 'truncated' } });
    expect(getEnd(decode(readEvents('hitl').slice(0, -2)).events)).toMatchObject({ outcome: 'paused' });
  });

  test('merges concurrent agents of the same name and warns', () => {
    const started = readEvents('simple').find(({ name }) => name === 'agent:started');
    const { events } = decode([started, started]);
    expect(ofType(events, 'agent-start')).toHaveLength(1);
    expect(ofType(events, 'notice')).toMatchObject([{ code: 'same-name' }]);
  });

  test('decodes arbitrary input to a valid run', () => {
    const every = names.flatMap(readEvents).map(({ name }) => ({ name, payload: {} }));
    const { events } = decode([null, 7, 'x', {}, ...every.filter(({ name }) => name !== 'workflow:completed')]);
    expect(check(canonical, events).violations).toEqual([]);
  });
});

describe('openHarnessServerSource', () => {
  /** Stub of a server that never ends its stream. */
  const server = (text: string, state: object = { running: true }) => {
    const requestedUrls: string[] = [];
    let isCancelled = false;
    const answer = async (input: string | URL | Request): Promise<Response> => {
      const url = input as string;
      requestedUrls.push(url);
      if (!url.includes('/events')) return Response.json(state);
      return new Response(
        new ReadableStream({
          start: (body) => body.enqueue(new TextEncoder().encode(text)),
          cancel: () => void (isCancelled = true),
        }),
      );
    };
    return { fetch: answer, requestedUrls, isCancelled: () => isCancelled };
  };
  const sse = (events: ServerEvent[]): string =>
    events.map((event) => `event: ${event.name}\nid: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  const options = { baseUrl: 'http://127.0.0.1:42069/', sessionId: 's 1', pollMs: 5 };

  test('follows a session from its history and ends with the workflow', async () => {
    const text = readFileSync(join(import.meta.dirname, '../../fixtures/head-4645c5d/simple.sse.txt'), 'utf8');
    const { fetch, requestedUrls, isCancelled } = server(text);
    const events = await readAll(openHarnessServerSource({ ...options, fetch }).run(runInput(), runControl()));
    expect(requestedUrls[0]).toBe('http://127.0.0.1:42069/sessions/s%201/events?history=true');
    expect(check(canonical, events).violations).toEqual([]);
    expect(getEnd(events)).toMatchObject({ outcome: 'complete' });
    expect(isCancelled()).toBe(true);
    const texts = foldEvents(events)!.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    expect(texts).toEqual(['Hello', 'Done']);
  });

  test('detects a failed workflow that the server does not report', async () => {
    const { fetch } = server(sse(readEvents('error')), { running: false });
    const events = await readAll(openHarnessServerSource({ ...options, fetch }).run(runInput(), runControl()));
    const message = expect.stringContaining('no longer runs') as string;
    expect(getEnd(events)).toMatchObject({ outcome: 'error', error: { message } });
  });

  test('pauses at a question and explains why it cannot be answered', async () => {
    const { fetch } = server(sse(readEvents('hitl').slice(0, -2)));
    const source = openHarnessServerSource({ ...options, fetch });
    const end = getEnd(await readAll(source.run(runInput(), runControl())));
    expect(end).toMatchObject({ outcome: 'paused', waitingFor: [{ type: 'question' }] });
    const answers = [{ questionId: 'q', approved: true }];
    const refused = getEnd(await readAll(source.run(runInput('hi', { answers }), runControl())));
    const message = expect.stringContaining('cannot be answered over HTTP') as string;
    expect(refused).toMatchObject({ outcome: 'error', error: { message } });
  });

  test('names the missing session', async () => {
    const fetch = (async () => new Response('', { status: 404 })) as unknown as typeof globalThis.fetch;
    const events = await readAll(openHarnessServerSource({ ...options, fetch }).run(runInput(), runControl()));
    expect(getEnd(events)).toMatchObject({ error: { message: 'The Open Harness server has no session "s 1".' } });
  });

  describe('resume', () => {
    const stored: CanonicalMessage = {
      id: 'message',
      threadId: 'thread',
      role: 'assistant',
      type: 'text',
      content: { format: 2, parts: [] },
      createdAt: new Date(0),
    };
    const resume = (source: AgentSource, log: AgentEvent[]): Promise<AgentEvent[]> =>
      readAll(source.resume!(runInput('hi', { epoch: 2 }), createResumePoint(stored, log), runControl()));
    // The last events of a session that stopped silently have the time of the reader.
    const withoutTimes = (events: AgentEvent[]): unknown[] =>
      events.flatMap((event) => (event.type === 'checkpoint' ? [] : [omit(event, 'at')]));

    test.each(names)('continues the recording %s after every event', async (name) => {
      const recorded = name === 'hitl' ? readEvents(name).slice(0, -2) : readEvents(name);
      const { fetch } = server(sse(recorded), { running: false });
      const source = openHarnessServerSource({ ...options, fetch });
      const whole = await readAll(source.run(runInput(), runControl()));
      for (let length = 1; length < whole.length; length += 1) {
        const rest = await resume(source, whole.slice(0, length));
        expect(withoutTimes(rest), `after ${length} events`).toEqual(withoutTimes(whole.slice(length)));
      }
    });

    test('follows the session of the checkpoint', async () => {
      const { fetch, requestedUrls } = server(sse(readEvents('simple')));
      const sessionId = (): string => `session ${requestedUrls.length}`;
      const source = openHarnessServerSource({ ...options, sessionId, fetch });
      const whole = await readAll(source.run(runInput(), runControl()));
      await resume(source, whole.slice(0, 5));
      expect(new Set(requestedUrls).size).toBe(1);
    });

    test('continues the session of a server that is being restarted', async () => {
      const { fetch } = server(sse(readEvents('simple')));
      const source = openHarnessServerSource({ ...options, fetch });
      const whole = await readAll(source.run(runInput(), runControl()));
      let isRestarting = true;
      const restarting: typeof globalThis.fetch = async (url) => {
        if (!isRestarting) return fetch(url);
        isRestarting = false;
        throw new TypeError('fetch failed');
      };
      const rest = await resume(openHarnessServerSource({ ...options, fetch: restarting }), whole.slice(0, 5));
      expect(withoutTimes(rest)).toEqual(withoutTimes(whole.slice(5)));
    });

    test('ends as lost with the reason if the server has lost the session', async () => {
      const { fetch } = server(sse(readEvents('simple')));
      const whole = await readAll(openHarnessServerSource({ ...options, fetch }).run(runInput(), runControl()));
      const gone = (async () => new Response('', { status: 404 })) as unknown as typeof globalThis.fetch;
      const rest = await resume(openHarnessServerSource({ ...options, fetch: gone }), whole.slice(0, 5));
      expect(getEnd(rest)).toMatchObject({
        error: {
          code: 'lost',
          message: expect.stringMatching(/does not return the session "s 1".* Start a new session/),
        },
        resume: { sessionId: 's 1' },
      });
    });
  });
});

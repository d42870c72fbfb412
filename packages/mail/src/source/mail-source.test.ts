import { foldEvents, type AgentEvent, type CanonicalMessage, type RunInput } from '@intertie/core';
import { canonical, check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { readAll } from '../../../core/test/read-all.ts';
import { runControl } from '../../../core/test/run-control.ts';
import { readCaptureFrames, findCapture, captures, run } from '../../test/captures.ts';
import { sse, startStubServer, type StubServer } from '../../test/stub-mail-server.ts';
import { createMAIL } from '../model/mail-provider.ts';
import { mailProtocol } from '../mail-protocol.ts';
import { mailSource, type MAILSourceSettings } from './mail-source.ts';

const message = (id: string, role: 'user' | 'assistant', text: string): CanonicalMessage => ({
  id,
  threadId: 't',
  role,
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text }] },
  createdAt: new Date(0),
});

async function runEvents(
  { url }: StubServer,
  input: Partial<RunInput> = {},
  settings: MAILSourceSettings = {},
): Promise<AgentEvent[]> {
  const source = mailSource({ baseUrl: url, authToken: 'key', generateId: () => 'task-1', ...settings });
  const runInput = { ...run, history: [message('u', 'user', 'Hi')], ...input };
  const received = await readAll(source.run(runInput, runControl()));
  expect(check(canonical, received).violations).toEqual([]);
  return received;
}

describe('mailSource', () => {
  it('attributes every part to its agent', async () => {
    await using server = await startStubServer([sse(findCapture('03'), 'hold')]);
    const received = foldEvents(await runEvents(server));
    const shown = received?.content.parts.map((part) => [
      part.type,
      part.agentId,
      part.internal ?? false,
      part.to ?? [],
    ]);
    expect(shown).toEqual([
      ['reasoning', 'r:supervisor', false, []],
      ['text', 'r:supervisor', true, ['weather-agent']],
      ['tool-invocation', 'r:weather-agent', false, []],
      ['interjection', undefined, true, ['weather-agent']],
      ['text', 'r:weather-agent', true, ['supervisor']],
      ['reasoning', 'r:supervisor', false, []],
      ['text', 'r:supervisor', false, []],
    ]);
    expect(server.messages()).toMatchObject([{ body: 'Hi', task_id: 'task-1' }]);
  });

  it('pauses at a breakpoint and resumes by its token once all answers exist', async () => {
    await using server = await startStubServer([sse(findCapture('22'), 'hold'), sse(findCapture('23'))]);
    const paused = await runEvents(server);
    expect(paused.at(-1)).toMatchObject({
      outcome: 'paused',
      waitingFor: [{ toolCallId: 'bp-a' }, { toolCallId: 'bp-b' }],
      resume: { taskId: 'task-1', status: 'paused' },
    });
    const first = foldEvents(paused);
    const next = {
      runId: 'r2',
      resumes: 'r',
      message: first!.content,
      sourceState: { taskId: 'm-bp2', status: 'paused' },
    };
    const a = { toolCallId: 'bp-a', status: 'ok' as const, output: { x: 1 } };
    const waiting = await runEvents(server, { ...next, answers: [a] });
    expect(waiting.at(-1)).toMatchObject({ outcome: 'paused', waitingFor: [{ toolCallId: 'bp-b' }] });
    expect(server.messages()).toHaveLength(1);
    const b = { toolCallId: 'bp-b', status: 'error' as const, error: { message: 'no' } };
    const done = await runEvents(server, { ...next, answers: [a, b] });
    expect(done.at(-1)).toMatchObject({ outcome: 'complete' });
    expect(server.messages()[1]).toMatchObject({
      task_id: 'm-bp2',
      resume_from: 'breakpoint_tool_call',
      kwargs: {
        breakpoint_tool_call_result: [
          { call_id: 'bp-a', content: '{"x":1}' },
          { call_id: 'bp-b', content: 'Error: no' },
        ],
      },
    });
  });

  it('sends a new user message as the result of an unanswered breakpoint', async () => {
    await using server = await startStubServer([sse(findCapture('20'), 'hold'), sse(findCapture('21'))]);
    const paused = foldEvents(await runEvents(server));
    const history = [message('u', 'user', 'Hi'), paused!, message('u2', 'user', 'Never mind')];
    await runEvents(server, {
      runId: 'r2',
      messageId: 'm2',
      history,
      sourceState: { taskId: 'm-bp1', status: 'paused' },
    });
    expect(server.messages()[1]?.kwargs).toEqual({
      breakpoint_tool_call_result: [
        { call_id: 'bp-1', content: 'The call was not answered. The user says instead: Never mind' },
      ],
    });
  });

  it('continues the thread’s task and starts a new one if the server has lost it', async () => {
    await using server = await startStubServer([
      sse(findCapture('02')),
      sse(findCapture('30')),
      sse(findCapture('01')),
    ]);
    const history = [message('u', 'user', 'One'), message('a', 'assistant', 'Answer'), message('u2', 'user', 'Two')];
    const sourceState = { taskId: 'old', status: 'completed' };
    await runEvents(server, { history, sourceState });
    const again = await runEvents(server, { history, sourceState });
    expect(server.messages()).toMatchObject([
      { body: 'Two', task_id: 'old', resume_from: 'user_response' },
      { task_id: 'old' },
      { task_id: 'task-1', body: 'What was said so far:\nUser: One\nAssistant: Answer\n\nThe user now says:\nTwo' },
    ]);
    expect(again).toContainEqual(expect.objectContaining({ type: 'notice', level: 'warning' }));
    expect(again.at(-1)).toMatchObject({ outcome: 'complete', resume: { taskId: 'task-1' } });
  });

  it('ends the run with an error if the server rejects the request', async () => {
    await using server = await startStubServer([{ status: 401, json: { detail: 'invalid API key' } }]);
    expect((await runEvents(server)).at(-1)).toMatchObject({
      outcome: 'error',
      error: { message: expect.stringContaining('rejected the key') as string, retryable: false },
    });
  });

  it('emits the calls of MAIL’s own tools with toolCalls "all"', async () => {
    await using server = await startStubServer([sse(findCapture('03'), 'hold')]);
    const calls = (await runEvents(server, {}, { toolCalls: 'all' })).filter((event) => event.type === 'tool-call');
    expect(calls.map(({ toolName, agentId }) => [toolName, agentId])).toEqual([
      ['send_request', 'r:supervisor'],
      ['get_weather', 'r:weather-agent'],
      ['send_response', 'r:weather-agent'],
      ['task_complete', 'r:supervisor'],
    ]);
  });

  it('throws for an invalid setting at creation', () => {
    expect(() => mailSource({ maxSteps: -1 })).toThrow('The MAIL setting "maxSteps" is -1.');
  });

  it('describes the agents of the swarm', async () => {
    await using server = await startStubServer([]);
    expect(await mailSource({ baseUrl: server.url }).describe?.()).toEqual({
      entry: 'supervisor',
      agents: ['supervisor', 'weather-agent', 'math'].map((name) => ({ name, kind: 'agent' })),
      edges: [
        { from: 'supervisor', to: 'weather-agent' },
        { from: 'supervisor', to: 'math' },
        { from: 'weather-agent', to: 'supervisor' },
        { from: 'math', to: 'supervisor' },
      ],
    });
  });
});

describe('provider.check', () => {
  const checkServer = async (answer: Parameters<typeof startStubServer>[0], token = ''): Promise<object> => {
    await using server = await startStubServer(answer);
    return await createMAIL({ baseUrl: server.url, authToken: token }).check({ swarm: 'example' });
  };

  it('reports a healthy server', async () => {
    const found = await checkServer(
      ({ path }) => (path === '/whoami' ? { json: { id: 'u', role: 'user' } } : undefined),
      'key',
    );
    expect(found).toMatchObject({
      ok: true,
      version: '1.3',
      swarm: 'example',
      auth: 'token',
      entrypoint: 'supervisor',
    });
    expect(await checkServer(({ path }) => (path === '/ui/tasks' ? { json: [] } : undefined))).toMatchObject({
      auth: 'debug',
    });
  });

  it('reports how to fix each problem', async () => {
    expect(await checkServer([])).toMatchObject({
      ok: false,
      next: expect.stringContaining('Set authToken') as string,
    });
    expect(
      await checkServer(({ path }) => (path === '/' ? { json: { protocol_version: '2.0' } } : undefined)),
    ).toMatchObject({
      ok: false,
      next: expect.stringContaining('MAIL 2') as string,
    });
    const other = (name: string): Promise<object> =>
      checkServer(({ path }) => {
        if (path === '/ui/tasks') return { json: [] };
        return path === '/' ? { json: { protocol_version: '1.3', swarm: { name } } } : undefined;
      });
    expect(await other('x')).toMatchObject({ ok: false, next: `The server hosts "x", not "example". Use mail('x').` });
    const unreachable = await createMAIL({ baseUrl: 'http://127.0.0.1:9' }).check();
    expect(unreachable).toMatchObject({
      ok: false,
      reachable: false,
      next: expect.stringContaining('Cannot connect to a MAIL server') as string,
    });
  });
});

describe('mailProtocol', () => {
  /** Expected violations by capture number. */
  const broken: Record<string, string[]> = { '39': ['resume', 'end'] };

  it.each(captures)('accepts capture %s except for its known violations', (name) => {
    const frames = readCaptureFrames(name);
    // Pings do not identify the protocol.
    const named = frames.filter(({ event }) => event !== 'ping');
    expect(named.every((frame) => mailProtocol.looksLike(frame))).toBe(true);
    const rules = check(mailProtocol, frames).violations.map(({ rule }) => rule);
    expect(rules).toEqual(broken[name.slice(0, 2)] ?? []);
  });

  it('detects a violation of each rule', () => {
    const data = { task_id: 'T', description: '' };
    const frames = [
      {},
      { event: 'ping', data: "{'a': 1}" },
      { event: 'tool_call', data },
      { event: 'new_message', data },
      { event: 'help_called', data: { task_id: 'U' } },
      { event: 'help_called', data: { description: '' } },
      { event: 'eval_start', data: {} },
      { event: 'task_complete', data: { task_id: 'T', response: '' } },
      { event: 'help_called', data },
    ];
    const { violations, losses, counts } = check(mailProtocol, frames);
    const rules = ['frame', 'json', 'tool', 'message', 'task', 'description', 'task', 'answer', 'end'];
    expect(violations.map(({ rule }) => rule)).toEqual(rules);
    expect(losses).toHaveLength(1);
    expect(counts.help_called).toBe(3);
  });
});

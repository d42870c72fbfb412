import {
  compose,
  foldEvents,
  seal,
  transcode,
  type AgentEvent,
  type EventOf,
  type Loss,
  type RunInput,
} from '@intertie/core';
import { canonical, check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { readCaptureFrames, findCapture, captures, run } from '../../test/captures.ts';
import { createMAILDecoder, type MAILDecoderOptions } from './decode-mail.ts';
import { mailMetadata } from '../shared/mail-metadata.ts';
import { readResumeToken } from '../shared/resume-token.ts';
import { singleAgentEvent, warningEvent, type MAILFrame } from '../shared/mail-event.ts';

function decode(frames: MAILFrame[], options: MAILDecoderOptions = {}, input: RunInput = run): AgentEvent[] {
  const losses: Loss[] = [];
  return transcode(
    compose(
      createMAILDecoder(input, options),
      seal(input, (loss) => losses.push(loss)),
    ),
    frames,
  );
}

const decoded = (number: string): AgentEvent[] => decode(readCaptureFrames(findCapture(number)));

function ofType<T extends AgentEvent['type']>(events: AgentEvent[], type: T): Array<EventOf<T>> {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** Formats an event as one line without its time and metadata. */
function toLine(event: AgentEvent): string {
  const { type, at: _, providerMetadata: __, ...rest } = event as AgentEvent & { providerMetadata?: unknown };
  return `${type} ${JSON.stringify(rest)}`;
}

const frame = (event: string, description: string, extra_data: object = {}): MAILFrame => ({
  event,
  data: { timestamp: '2026-01-01T00:00:00+00:00', description, task_id: 'T', extra_data },
});
const calledTool = (agent: string, tool_name: string, tool_call_id: string, fields: object = {}): MAILFrame =>
  frame('tool_call', `agent ${agent} called ${tool_name}`, { tool_name, tool_args: {}, tool_call_id, ...fields });
const sent = (id: string, sender: object, type: string, body: string): MAILFrame =>
  frame('new_message', 'sending message', {
    full_message: { id, msg_type: type, message: { sender, recipients: [{ address: 'all' }], subject: '', body } },
  });
const answer = (body: string): MAILFrame =>
  sent('final', { address_type: 'agent', address: 'boss' }, 'broadcast_complete', body);
const final = (event: string, response: string): MAILFrame => ({ event, data: { task_id: 'T', response } });

describe.each(captures)('capture %s', (name) => {
  const frames = readCaptureFrames(name);

  it('decodes to the events of the snapshot', () => {
    expect(decode(frames).map(toLine)).toMatchSnapshot();
  });

  it('follows the canonical rules at every cut', () => {
    for (let cut = 0; cut <= frames.length; cut += 1) {
      const events = decode(frames.slice(0, cut));
      expect(check(canonical, events).violations, `cut at ${cut}`).toEqual([]);
      expect(ofType(events, 'run-end')[0]?.providerMetadata?.mail, `cut at ${cut}`).toBeDefined();
      expect(() => foldEvents(events)).not.toThrow();
    }
  });

  it('emits at most one answer', () => {
    const shown = ofType(decode(frames), 'text-start').filter(({ internal }) => !internal);
    expect(shown.length).toBeLessThanOrEqual(1);
  });
});

describe('run-end', () => {
  const end = (number: string): EventOf<'run-end'> => ofType(decoded(number), 'run-end')[0]!;

  it.each(['01', '02', '03', '04', '05', '06', '08', '10', '11', '15', '16', '18', '21', '23', '34', '37'])(
    'ends capture %s as complete',
    (number) => expect(end(number)).toMatchObject({ outcome: 'complete', finishReason: 'stop' }),
  );

  it.each([
    ['20', ['bp-1']],
    ['22', ['bp-a', 'bp-b']],
    ['26', ['bp-a']],
    ['27', ['bp-a']],
  ])('ends capture %s as paused at the breakpoint', (number, ids) => {
    expect(end(number)).toMatchObject({
      outcome: 'paused',
      waitingFor: ids.map((toolCallId) => ({ type: 'tool', toolCallId })),
      providerMetadata: { mail: { taskStatus: 'paused' } },
    });
    const { taskId, resumeToken } = mailMetadata(end(number)?.providerMetadata);
    expect(readResumeToken(resumeToken)).toEqual({ taskId, calls: ids });
  });

  it.each([
    ['07', 'error scheduling message for agent supervisor: completion failed after 5 retries'],
    ['35', 'agent ghost is unknown; message from id-bob cannot be delivered to it'],
    ['30', "The MAIL server no longer has the task: task 'ghost' not found."],
    ['33', "'call_id'"],
  ])('reports the first cause of the failure in capture %s', (number, message) => {
    expect(end(number)).toMatchObject({ outcome: 'error', error: { message } });
  });

  it('ends the run where the server would ping forever', () => {
    expect(end('39')).toMatchObject({ outcome: 'error', error: { code: 'mail-completed-task' } });
  });

  it('reports the task as running after a lost connection or an abort', () => {
    const frames = readCaptureFrames(findCapture('03')).slice(0, 4);
    expect(decode(frames).at(-1)).toMatchObject({
      outcome: 'error',
      error: { code: 'truncated' },
      providerMetadata: { mail: { taskId: 't-del', taskStatus: 'running', currentAgent: 'weather-agent' } },
    });
    const stopped = transcode(createMAILDecoder(run), frames, { reason: 'aborted', by: 'user', message: 'enough' });
    expect(stopped.at(-1)).toMatchObject({
      outcome: 'aborted',
      by: 'user',
      reason: 'enough',
      resume: { taskId: 't-del', status: 'running' },
    });
  });

  it('pauses from the final response if the tool_call events are missing', () => {
    const frames = readCaptureFrames(findCapture('22')).filter(({ event }) => event !== 'tool_call');
    expect(decode(frames).at(-1)).toMatchObject({ outcome: 'paused', waitingFor: [{ toolCallId: 'bp-a' }, {}] });
  });

  it('takes the answer from the final response if the final message is missing', () => {
    const frames = readCaptureFrames(findCapture('01')).filter((_, index) => index !== 3);
    const events = decode(frames);
    expect(ofType(events, 'text-delta').map(({ delta }) => delta)).toEqual(['Hello/world ☃']);
    expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
  });
});

describe('actions', () => {
  it('pairs results without ids by agent and order', () => {
    const complete = (agent: string, text: string): MAILFrame =>
      frame('action_complete', `action complete (caller = ${agent}):\n${text}`);
    const running = (agent: string, tool: string): MAILFrame =>
      frame('action_call', `agent ${agent} executing action tool: ${tool} with args: {}`);
    const events = decode([
      calledTool('a', 'x', '1'),
      calledTool('a', 'y', '2'),
      calledTool('b c.d', 'x', '3'),
      running('b c.d', 'x'),
      running('a', 'x'),
      complete('a', 'of 1'),
      running('a', 'y'),
      complete('b c.d', '{"of":3}'),
      complete('a', 'failed to execute action tool: of 2'),
      answer('done'),
      final('task_complete', 'done'),
    ]);
    expect(ofType(events, 'tool-result')).toMatchObject([
      { toolCallId: '1', status: 'ok', output: 'of 1' },
      { toolCallId: '3', status: 'ok', output: { of: 3 } },
      { toolCallId: '2', status: 'error', error: { message: 'of 2', code: 'mail-action' } },
    ]);
    expect(ofType(events, 'agent-start').map(({ name }) => name)).toEqual(['a', 'b c.d', 'boss']);
  });

  it('turns every kind of action_error into an error result', () => {
    const events = decode([
      calledTool('a', 'nope', '1'),
      calledTool('a', 'secret', '2'),
      calledTool('a', 'late', '3'),
      frame('action_error', 'action nope not found'),
      frame('action_error', 'agent <mail.core.agents.AgentCore object at 0x7f> cannot access action secret'),
      frame('action_error', 'action error (caller = a, tool = late):\nboom'),
      frame('action_error', 'action unheard not found'),
    ]);
    expect(ofType(events, 'tool-result').map((event) => [event.toolCallId, event.status])).toEqual([
      ['1', 'error'],
      ['2', 'error'],
      ['3', 'error'],
    ]);
    expect(ofType(events, 'notice').map(({ message }) => message)).toContain('action unheard not found');
  });

  it('emits a call for an action whose tool_call is missing', () => {
    const events = decode([
      frame('action_call', 'agent a executing action tool: x with args: {"n":1}'),
      frame('action_complete', 'action complete (caller = a):\nok'),
    ]);
    expect(ofType(events, 'tool-call')).toMatchObject([{ toolName: 'x', input: { n: 1 }, executor: 'runtime' }]);
    expect(ofType(events, 'tool-result')).toHaveLength(1);
  });

  it('assigns a new id if the vendor repeats one', () => {
    const events = decode([
      calledTool('a', 'x', '1'),
      frame('await_message', "agent 'a' is awaiting"),
      calledTool('a', 'x', '1'),
    ]);
    const ids = ofType(events, 'tool-call').map(({ toolCallId }) => toolCallId);
    expect(ids).toEqual(['1', 'r:0']);
    expect(ofType(events, 'tool-call')[1]?.providerMetadata).toEqual({ mail: { taskId: 'T', callId: '1' } });
  });
});

describe('unusual events', () => {
  it('emits a broadcast once although it arrives once per recipient', () => {
    const agent = { address_type: 'agent', address: 'a' };
    const events = decode([sent('1', agent, 'broadcast', 'hi'), sent('1', agent, 'broadcast', 'hi')]);
    expect(ofType(events, 'text-start')).toMatchObject([{ internal: true, to: ['all'], agentId: 'r:a' }]);
  });

  it('withholds the echo of a message from a user or an admin', () => {
    const losses: Loss[] = [];
    const frames = ['user', 'admin'].map((address_type) => sent('1', { address_type, address: 'u' }, 'request', 'hi'));
    transcode(createMAILDecoder(run, { onLoss: (loss) => losses.push(loss) }), frames);
    expect(losses.map(({ kind }) => kind)).toEqual(['withheld', 'withheld']);
  });

  it('emits unknown events as raw and malformed ones as raw with a notice', () => {
    const events = decode([
      frame('eval_start', 'x'),
      { event: 'tool_call', data: '{"half' },
      { event: 'new_message', data: '[]' },
      frame('new_message', 'without a message'),
      frame('tool_call', 'nobody called anything'),
    ]);
    expect(ofType(events, 'raw')).toHaveLength(5);
    expect(ofType(events, 'notice').map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'mail-malformed'));
  });

  it('reports a server older than 1.3', () => {
    const events = decode([{ event: 'new_message', data: "{'timestamp': '2025', 'description': 'x'}" }]);
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { code: 'mail-version' } });
  });

  it('reports events after the end as late', () => {
    const losses: Loss[] = [];
    const codec = createMAILDecoder(run, { onLoss: (loss) => losses.push(loss) });
    transcode(codec, [
      answer('a'),
      final('task_complete', 'a'),
      calledTool('b', 'x', '1'),
      { event: 'ping', data: '' },
    ]);
    expect(losses).toMatchObject([{ kind: 'late', what: 'tool_call' }]);
  });

  it('turns an injected warning into a notice', () => {
    expect(ofType(decode([frame(warningEvent, 'A new task was started.')]), 'notice')).toMatchObject([
      { level: 'warning', message: 'A new task was started.' },
    ]);
  });

  it('joins reasoning that arrives as a list of blocks', () => {
    const events = decode([calledTool('a', 'help', '1', { reasoning: ['one', 'two'], preamble: 'Well.' })]);
    expect(ofType(events, 'reasoning-delta').map(({ delta }) => delta)).toEqual(['one\n\ntwo', 'Well.']);
  });
});

it('adds every event to the metadata with includeEvents', () => {
  const frames = readCaptureFrames(findCapture('18'));
  const [end] = ofType(decode(frames, { includeEvents: true }), 'run-end');
  expect(end?.providerMetadata?.mail?.events).toHaveLength(frames.filter(({ event }) => event !== 'ping').length);
});

describe('two agents paused at the same time', () => {
  const pauses = (agent: string, id: string): MAILFrame[] => [
    calledTool(agent, 'ask_user', id),
    frame('breakpoint_tool_call', `agent ${agent} used breakpoint tools ask_user with args: {}`),
  ];

  it('reports the second pause as a loss', () => {
    const losses: Loss[] = [];
    const events = decode([...pauses('a', '1'), ...pauses('b', '2')], { onLoss: (loss) => losses.push(loss) });
    expect(ofType(events, 'run-end')).toMatchObject([{ outcome: 'paused' }]);
    expect(losses).toContainEqual(expect.objectContaining({ kind: 'late', what: 'breakpoint_tool_call' }));
    expect(losses.at(-1)?.why).toMatch(/^Two agents are paused at the same time/);
  });

  it('warns if the server does not acknowledge the answers to a breakpoint', () => {
    const resumed = (...frames: MAILFrame[]): string[] =>
      ofType(
        decode([...frames, answer('Done.'), final('task_complete', 'Done.')], { answersBreakpoint: true }),
        'notice',
      )
        .flatMap(({ code }) => code ?? [])
        .filter((code) => code === 'mail-two-pauses');
    expect(resumed(calledTool('b', 'task_complete', '3'))).toHaveLength(1);
    expect(resumed(frame('breakpoint_action_complete', 'breakpoint action complete (caller = a):\nyes'))).toEqual([]);
  });
});

describe('swarm of one agent that answers without a tool', () => {
  const textOutput = calledTool('solo', 'text_output', 't', { tool_args: { content: 'Just text.' } });

  it('ends the run with the text as the answer', () => {
    const events = decode([textOutput, { event: singleAgentEvent, data: {} }]);
    expect(ofType(events, 'text-delta').map(({ delta }) => delta)).toEqual(['Just text.']);
    expect(ofType(events, 'notice')).toMatchObject([{ level: 'warning', code: 'mail-text-output' }]);
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete', resume: { status: 'running' } });
  });

  it('does not use a text_output to other agents as the answer', () => {
    const events = decode([textOutput, answer('Done.'), final('task_complete', 'Done.')]);
    expect(ofType(events, 'text-delta').map(({ delta }) => delta)).toEqual(['Done.']);
  });
});

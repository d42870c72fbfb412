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

/** An event in a line: what it says, without times. */
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

describe.each(captures)('the capture %s', (name) => {
  const frames = readCaptureFrames(name);

  it('becomes these events', () => {
    expect(decode(frames).map(toLine)).toMatchSnapshot();
  });

  it('keeps the rules wherever it is cut', () => {
    for (let cut = 0; cut <= frames.length; cut += 1) {
      const events = decode(frames.slice(0, cut));
      expect(check(canonical, events).violations, `cut at ${cut}`).toEqual([]);
      expect(ofType(events, 'run-end')[0]?.providerMetadata?.mail, `cut at ${cut}`).toBeDefined();
      expect(() => foldEvents(events)).not.toThrow();
    }
  });

  it('says the answer exactly once', () => {
    const shown = ofType(decode(frames), 'text-start').filter(({ internal }) => !internal);
    expect(shown.length).toBeLessThanOrEqual(1);
  });
});

describe('the end of a run', () => {
  const end = (number: string): EventOf<'run-end'> => ofType(decoded(number), 'run-end')[0]!;

  it.each(['01', '02', '03', '04', '05', '06', '08', '10', '11', '15', '16', '18', '21', '23', '34', '37'])(
    'is complete in %s',
    (number) => expect(end(number)).toMatchObject({ outcome: 'complete', finishReason: 'stop' }),
  );

  it.each([
    ['20', ['bp-1']],
    ['22', ['bp-a', 'bp-b']],
    ['26', ['bp-a']],
    ['27', ['bp-a']],
  ])('is paused in %s, at once', (number, ids) => {
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
    ['30', "The MAIL server does not know the task any more: task 'ghost' not found."],
    ['33', "'call_id'"],
  ])('names the first cause in %s', (number, message) => {
    expect(end(number)).toMatchObject({ outcome: 'error', error: { message } });
  });

  it('does not wait for a server that will ping forever', () => {
    expect(end('39')).toMatchObject({ outcome: 'error', error: { code: 'mail-completed-task' } });
  });

  it('says that the task goes on where the wire was cut or the run was stopped', () => {
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

  it('pauses by the final word where the calls were missed', () => {
    const frames = readCaptureFrames(findCapture('22')).filter(({ event }) => event !== 'tool_call');
    expect(decode(frames).at(-1)).toMatchObject({ outcome: 'paused', waitingFor: [{ toolCallId: 'bp-a' }, {}] });
  });

  it('takes the final word for the answer where the final message was missed', () => {
    const frames = readCaptureFrames(findCapture('01')).filter((_, index) => index !== 3);
    const events = decode(frames);
    expect(ofType(events, 'text-delta').map(({ delta }) => delta)).toEqual(['Hello/world ☃']);
    expect(events.at(-1)).toMatchObject({ outcome: 'complete' });
  });
});

describe('actions', () => {
  it('are paired per agent and order, though nothing has an id', () => {
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

  it('that are refused are errors, whichever sentence says so', () => {
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

  it('whose announcement was missed are calls all the same', () => {
    const events = decode([
      frame('action_call', 'agent a executing action tool: x with args: {"n":1}'),
      frame('action_complete', 'action complete (caller = a):\nok'),
    ]);
    expect(ofType(events, 'tool-call')).toMatchObject([{ toolName: 'x', input: { n: 1 }, executor: 'runtime' }]);
    expect(ofType(events, 'tool-result')).toHaveLength(1);
  });

  it('have ids of their own where the vendor repeats one', () => {
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

describe('what is odd', () => {
  it('is shown once though a broadcast comes once per recipient', () => {
    const agent = { address_type: 'agent', address: 'a' };
    const events = decode([sent('1', agent, 'broadcast', 'hi'), sent('1', agent, 'broadcast', 'hi')]);
    expect(ofType(events, 'text-start')).toMatchObject([{ internal: true, to: ['all'], agentId: 'r:a' }]);
  });

  it('is an echo, whether the user is one or an administrator', () => {
    const losses: Loss[] = [];
    const frames = ['user', 'admin'].map((address_type) => sent('1', { address_type, address: 'u' }, 'request', 'hi'));
    transcode(createMAILDecoder(run, { onLoss: (loss) => losses.push(loss) }), frames);
    expect(losses.map(({ kind }) => kind)).toEqual(['withheld', 'withheld']);
  });

  it('is raw if it is unknown, and raw with a notice if it is broken', () => {
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

  it('is named where the server is older than 1.3', () => {
    const events = decode([{ event: 'new_message', data: "{'timestamp': '2025', 'description': 'x'}" }]);
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { code: 'mail-version' } });
  });

  it('is late after the end', () => {
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

  it('is told as a notice where it is our own word', () => {
    expect(ofType(decode([frame(warningEvent, 'A new task was started.')]), 'notice')).toMatchObject([
      { level: 'warning', message: 'A new task was started.' },
    ]);
  });

  it('is thought, also as a list of blocks', () => {
    const events = decode([calledTool('a', 'help', '1', { reasoning: ['one', 'two'], preamble: 'Well.' })]);
    expect(ofType(events, 'reasoning-delta').map(({ delta }) => delta)).toEqual(['one\n\ntwo', 'Well.']);
  });
});

it('keeps every event in the metadata if asked to', () => {
  const frames = readCaptureFrames(findCapture('18'));
  const [end] = ofType(decode(frames, { includeEvents: true }), 'run-end');
  expect(end?.providerMetadata?.mail?.events).toHaveLength(frames.filter(({ event }) => event !== 'ping').length);
});

describe('two agents that pause at once, which a server cannot keep apart', () => {
  const pauses = (agent: string, id: string): MAILFrame[] => [
    calledTool(agent, 'ask_user', id),
    frame('breakpoint_tool_call', `agent ${agent} used breakpoint tools ask_user with args: {}`),
  ];

  it('the second pause is named in the ledger', () => {
    const losses: Loss[] = [];
    const events = decode([...pauses('a', '1'), ...pauses('b', '2')], { onLoss: (loss) => losses.push(loss) });
    expect(ofType(events, 'run-end')).toMatchObject([{ outcome: 'paused' }]);
    expect(losses).toContainEqual(expect.objectContaining({ kind: 'late', what: 'breakpoint_tool_call' }));
    expect(losses.at(-1)?.why).toMatch(/^Two agents are paused at the same time/);
  });

  it('answers that the server does not acknowledge were for a pause that it has forgotten', () => {
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

describe('an agent that is alone and answers without a tool', () => {
  const textOutput = calledTool('solo', 'text_output', 't', { tool_args: { content: 'Just text.' } });

  it('has answered, and the run ends at once', () => {
    const events = decode([textOutput, { event: singleAgentEvent, data: {} }]);
    expect(ofType(events, 'text-delta').map(({ delta }) => delta)).toEqual(['Just text.']);
    expect(ofType(events, 'notice')).toMatchObject([{ level: 'warning', code: 'mail-text-output' }]);
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'complete', resume: { status: 'running' } });
  });

  it('what others are told is no answer', () => {
    const events = decode([textOutput, answer('Done.'), final('task_complete', 'Done.')]);
    expect(ofType(events, 'text-delta').map(({ delta }) => delta)).toEqual(['Done.']);
  });
});

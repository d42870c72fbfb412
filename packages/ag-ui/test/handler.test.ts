import { readRunHeaders } from '@intertie/core/http';
import { HttpAgent } from '@ag-ui/client';
import type { Message, RunAgentInput } from '@ag-ui/core';
import { modelSource } from '@intertie/ai-sdk';
import type { AgentSource, RunInput } from '@intertie/core';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AGUIHandlerOptions } from '../src/server/ag-ui-handler-options.ts';
import { createAGUIHandler } from '../src/server/create-ag-ui-handler.ts';
import { protobuf } from '../src/wire/protobuf.ts';
import { tools } from './scenarios.ts';
import { finish, majors, reasoning, scriptedModel, streamedCall, text, type Turn } from './scripted-model.ts';
import { serve } from '../../ai-sdk/test/serve.ts';
import { describeMessages } from './describe-messages.ts';

const paris = '{"city":"Paris"}';
const userMessage: Message = { id: 'u1', role: 'user', content: 'Go.' };

async function agentFor(source: AgentSource, options?: AGUIHandlerOptions): Promise<HttpAgent> {
  const served = await serve(createAGUIHandler(source, options));
  onTestFinished(() => served.close());
  return new HttpAgent({ url: served.url, threadId: 'thread-1', initialMessages: [userMessage] });
}

/** Wraps a source to record its run inputs. */
function watched(source: AgentSource): { source: AgentSource; inputs: RunInput[] } {
  const inputs: RunInput[] = [];
  return { inputs, source: { ...source, run: (run, control) => (inputs.push(run), source.run(run, control)) } };
}

afterEach(() => vi.restoreAllMocks());

describe.each(majors)('an unmodified HttpAgent and $name', ({ ai }) => {
  const createSource = (...turns: Turn[]): AgentSource =>
    modelSource(scriptedModel(turns), { tools, streamText: ai.streamText });

  it('receives three steps and sends them back without duplicates', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { source, inputs } = watched(
      createSource(
        [
          ...reasoning('0', 'plan'),
          ...text('1', 'first'),
          ...streamedCall('c1', 'weather', paris),
          finish('tool-calls'),
        ],
        [...text('1', 'second'), ...streamedCall('c2', 'words', paris), finish('tool-calls')],
        [...text('1', 'third'), finish()],
      ),
    );
    const agent = await agentFor(source);
    await agent.runAgent({ runId: 'run-1' });
    const described = describeMessages(agent.messages);
    expect(described).toEqual([
      'reasoning=plan',
      'text=first',
      'call:c1={"city":"Paris"}',
      'result:c1={"city":"Paris","degrees":21}',
      'text=second',
      'call:c2={"city":"Paris"}',
      'result:c2=sunny',
      'text=third',
    ]);
    agent.addMessage({ id: 'u2', role: 'user', content: 'Again.' });
    await agent.runAgent({ runId: 'run-2' });
    const [, second] = inputs;
    expect(second?.history.map(({ id, role }) => [id, role])).toEqual([
      ['u1', 'user'],
      ['run-1:0', 'assistant'],
      ['u2', 'user'],
    ]);
    expect(second?.history[1]?.content.parts.map((part) => ('toolCallId' in part ? part.toolCallId : part.id))).toEqual(
      ['run-1:0', 'run-1:1', 'c1', 'run-1:2', 'c2', 'run-1:3'],
    );
    expect(warn).not.toHaveBeenCalled();
  });

  it('executes a client tool and continues the answer', async () => {
    const agent = await agentFor(
      createSource(
        [...streamedCall('c1', 'locate', '{}'), finish('tool-calls')],
        [...text('0', 'You are in Rome.'), finish()],
      ),
    );
    const locate = { name: 'locate', description: 'Where the user is', parameters: { type: 'object' } };
    await agent.runAgent({ runId: 'run-1', tools: [locate] });
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: 'Rome' });
    await agent.runAgent({ runId: 'run-2', tools: [locate] });
    expect(describeMessages(agent.messages)).toEqual(['call:c1={}', 'result:c1=Rome', 'text=You are in Rome.']);
  });

  it.each([
    [true, 'removed'],
    [false, 'The call was denied.'],
  ])('answers an approval with %s', async (approved, result) => {
    const agent = await agentFor(
      createSource([...streamedCall('c1', 'remove', paris), finish('tool-calls')], [...text('0', 'Well.'), finish()]),
    );
    await agent.runAgent({ runId: 'run-1' });
    const [interrupt] = agent.pendingInterrupts;
    expect(interrupt).toMatchObject({ reason: 'tool_call', toolCallId: 'c1' });
    const resume = [{ interruptId: interrupt!.id, status: 'resolved' as const, payload: { approved } }];
    await agent.runAgent({ runId: 'run-2', resume });
    expect(describeMessages(agent.messages)).toEqual([`call:c1=${paris}`, `result:c1=${result}`, 'text=Well.']);
  });

  it('aborts the model when it disconnects', async () => {
    const agent = await agentFor(createSource({ parts: text('0', 'Hel').slice(0, 2), last: 'hang' }));
    let stopped: () => void = () => undefined;
    const over = new Promise<void>((resolve) => void (stopped = resolve));
    const hanging: AgentSource = {
      name: 'hanging',
      pauses: 'replay',
      run: (run, control) => {
        control.signal.addEventListener('abort', () => stopped());
        return createSource({ parts: text('0', 'Hel').slice(0, 2), last: 'hang' }).run(run, control);
      },
    };
    const served = await serve(createAGUIHandler(hanging));
    onTestFinished(() => served.close());
    agent.url = served.url;
    const running = agent.runAgent(
      { runId: 'run-1' },
      { onTextMessageContentEvent: () => agent.abortRun(), onRunFailed: () => undefined },
    );
    await over;
    await running.catch(() => undefined);
    expect(describeMessages(agent.messages)).toEqual(['text=Hel']);
  });
});

describe('createAGUIHandler', () => {
  const post = (body: string, method = 'POST'): Promise<Response> => {
    const source = modelSource(scriptedModel([[...text('0', 'Hi'), finish()]]));
    return createAGUIHandler(source, { limits: { bodyBytes: 1000 } })(
      new Request('http://localhost/', { method, ...(method === 'POST' && { body }) }),
    );
  };
  const input = { threadId: 't', runId: 'r', messages: [userMessage] };

  it.each([
    ['a body that is not JSON', '{', 400],
    ['a body that is not a RunAgentInput', '{"threadId":"t"}', 422],
    ['an invalid message', JSON.stringify({ ...input, messages: [{ id: 'x', role: 'nobody' }] }), 422],
    ['a body that is too large', JSON.stringify({ ...input, state: 'x'.repeat(1000) }), 413],
  ])('rejects %s before any stream starts', async (_, body, status) => {
    const response = await post(body);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  it.each([
    ['messages', { messages: [userMessage, {}, { id: 7 }] }, 'messages.1'],
    ['tools', { tools: [{}, {}] }, 'tools.0.name'],
    ['context', { context: [{ description: 'd', value: 'v' }, { description: 'd' }] }, 'context.1.value'],
    ['resume', { resume: [{}] }, 'resume.0.interruptId'],
  ])('names the first invalid entry of %s', async (_, fields, place) => {
    const response = await post(JSON.stringify({ ...input, ...fields }));
    expect(response.status).toBe(422);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain(place);
  });

  it.each([
    ['json-too-large', { jsonBytes: 10 }, 413],
    ['json-too-deep', { jsonDepth: 2 }, 400],
    ['too-many-messages', { messages: 0 }, 413],
    ['too-many-parts', { parts: 0 }, 413],
  ])('rejects a request with %s', async (code, limits, status) => {
    const source = modelSource(scriptedModel([]));
    const handler = createAGUIHandler(source, { limits });
    const response = await handler(new Request('http://localhost/', { method: 'POST', body: JSON.stringify(input) }));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code, fix: expect.stringContaining('limits.') } });
  });

  it.each(['会話-1', 'a\r\nb'])('names the run %j in a header', async (runId) => {
    const response = await post(JSON.stringify({ ...input, runId }));
    expect(response.status).toBe(200);
    expect(readRunHeaders(response)).toEqual({ runId });
  });

  it.each(['', '\0', '\ud800', 'r'.repeat(257)])('rejects the run id %j before the run starts', async (runId) => {
    const response = await post(JSON.stringify({ ...input, runId }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'bad-id' } });
  });

  it('accepts POST only, and input of old clients', async () => {
    expect((await post('', 'GET')).status).toBe(405);
    const binary = { type: 'binary', mimeType: 'image/png', data: 'aGk=' };
    const old = {
      ...input,
      parentRunId: null,
      messages: [{ ...userMessage, content: [{ type: 'text', text: 'See' }, binary] }],
    };
    const response = await post(JSON.stringify(old));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const frames = (await response.text()).split('\n\n').filter(Boolean);
    expect(frames.every((frame) => frame.startsWith('data: {'))).toBe(true);
  });

  it('sends protobuf only to a client that requests it explicitly', async () => {
    class BinaryAgent extends HttpAgent {
      accepts = 'application/vnd.ag-ui.event+proto';

      protected override requestInit(run: RunAgentInput): RequestInit {
        const init = super.requestInit(run);
        return { ...init, headers: { ...(init.headers as Record<string, string>), Accept: this.accepts } };
      }
    }
    const source = modelSource(scriptedModel([[...reasoning('0', 'Hm.'), ...text('1', 'Hel', 'lo'), finish()]]));
    const types: Array<string | null> = [];
    const handler = createAGUIHandler(source, { protobuf });
    const served = await serve(async (request) => {
      const response = await handler(request);
      types.push(response.headers.get('content-type'));
      return response;
    });
    onTestFinished(() => served.close());
    const agent = new BinaryAgent({ url: served.url, threadId: 'thread-1', initialMessages: [userMessage] });
    await agent.runAgent({ runId: 'run-1' });
    expect(describeMessages(agent.messages)).toEqual(['reasoning=Hm.', 'text=Hello']);
    agent.accepts = '*/*, application/vnd.ag-ui.event+proto;q=0';
    agent.setMessages([userMessage]);
    await agent.runAgent({ runId: 'run-2' });
    expect(describeMessages(agent.messages)).toEqual(['reasoning=Hm.', 'text=Hello']);
    expect(types).toEqual(['application/vnd.ag-ui.event+proto', 'text/event-stream']);
  });
});

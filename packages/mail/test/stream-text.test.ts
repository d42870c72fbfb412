import { APICallError, InvalidArgumentError, type LanguageModelV3Prompt } from '@ai-sdk/provider';
import { createUIMessageStreamProtocol } from '@intertie/ai-sdk';
import { check } from '@intertie/conformance';
import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  createMAIL,
  createMAILStreamTransformer,
  mailEvents,
  mailMetadata,
  type MAILFrame,
  type MAILModelSettings,
  type MAILProviderSettings,
} from '../src/index.ts';
import { readAll } from '../../core/test/read-all.ts';
import { readCaptureBytes, readCaptureFrames, findCapture, captures } from './captures.ts';
import { majors } from './majors.ts';
import { sse, startStubServer, type StubAnswer, type StubServer } from './stub-mail-server.ts';

const provider = ({ url }: StubServer, settings: MAILProviderSettings = {}): ReturnType<typeof createMAIL> => {
  let count = 0;
  return createMAIL({ baseUrl: url, authToken: 'key', generateId: () => `id-${(count += 1)}`, ...settings });
};
const capture = (number: string, after?: 'close' | 'hold' | 'cut'): StubAnswer => sse(findCapture(number), after);
// The tests assert warnings, so the SDK does not need to log them.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const quiet = { onError: () => undefined, maxRetries: 0 };

describe.each(majors)('MAIL model with ai %s', (major, { streamText, generateText, stepCountIs, tool }) => {
  const ask = (execute: (question: string) => string) =>
    tool({ inputSchema: z.object({ question: z.string() }), execute: async ({ question }) => execute(question) });

  describe.each(captures)('capture %s', (name) => {
    it('streams one step with one finish', async () => {
      // Like the real server, the stub keeps the connection open: the end must be detected without it.
      const isWhole = /"response":/.test(new TextDecoder().decode(readCaptureBytes(name)));
      await using server = await startStubServer([sse(name, isWhole ? 'hold' : 'close')], name.length);
      const result = streamText({ ...quiet, model: provider(server)('default', { reattach: false }), prompt: 'Hi' });
      const parts: string[] = [];
      for await (const part of result.fullStream) parts.push(summarize(part));
      expect(parts).toMatchSnapshot();
      expect(parts.filter((part) => part.startsWith('finish-step'))).toHaveLength(1);
    });

    it('produces a valid UI message stream', async () => {
      await using server = await startStubServer([sse(name)], name.length + 1);
      const model = provider(server)('default', { reattach: false });
      const result = streamText({ ...quiet, model, prompt: 'Hi' });
      const chunks: unknown[] = [];
      for await (const chunk of result.toUIMessageStream({ sendReasoning: true })) chunks.push(chunk);
      const { violations } = check(createUIMessageStreamProtocol({ version: major === '6' ? 6 : 7 }), chunks);
      // The SDK opens a step before the call fails.
      expect(violations.filter(({ rule }) => rule !== 'S12-empty')).toEqual([]);
    });
  });

  it('runs the caller’s tool at a breakpoint and resumes immediately with its result', async () => {
    await using server = await startStubServer([capture('20', 'hold'), capture('21')]);
    const asked: string[] = [];
    const result = streamText({
      model: provider(server)('example', { breakpointTools: ['ask_user'] }),
      prompt: 'Plan my trip',
      stopWhen: stepCountIs(5),
      tools: { ask_user: ask((question) => (asked.push(question), 'Paris')) },
    });
    expect(await result.text).toBe('You said it');
    expect(asked).toEqual(['Which city?']);
    const [first, second] = server.messages();
    expect(first).toMatchObject({ body: 'Plan my trip', task_id: 'id-1', stream: true });
    expect(first).not.toHaveProperty('resume_from');
    expect(second).toMatchObject({
      task_id: 'id-1',
      resume_from: 'breakpoint_tool_call',
      kwargs: { breakpoint_tool_call_result: [{ call_id: 'bp-1', content: 'Paris' }] },
    });
    const steps = await result.steps;
    expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
    expect(mailMetadata(steps[0]!.providerMetadata)).toMatchObject({ taskStatus: 'paused', taskId: 'id-1' });
    expect(steps.flatMap(({ warnings }) => warnings ?? [])).toEqual([]);
  });

  it('answers parallel breakpoints together', async () => {
    await using server = await startStubServer([capture('22', 'hold'), capture('23')]);
    const { text } = await generateText({
      model: provider(server)('example'),
      prompt: 'Both',
      stopWhen: stepCountIs(5),
      tools: {
        ask_user: ask(() => 'A'),
        client_tool: tool({ inputSchema: z.object({ n: z.number() }), execute: async ({ n }) => ({ x: n }) }),
      },
    });
    expect(text).toBe('got both');
    expect(server.messages()[1]?.kwargs).toEqual({
      breakpoint_tool_call_result: [
        { call_id: 'bp-a', content: 'A' },
        { call_id: 'bp-b', content: '{"x":2}' },
      ],
    });
  });

  it('continues the task of the last answer', async () => {
    await using server = await startStubServer([capture('01'), capture('02')]);
    const model = provider(server)('example');
    const messages: ModelMessage[] = [{ role: 'user', content: 'One' }];
    const first = await generateText({ model, system: 'Be brief.', messages });
    messages.push(...first.response.messages, { role: 'user', content: 'Two' });
    const second = streamText({ model, system: 'Be brief.', messages });
    expect(await second.text).toBe('Follow-up answer');
    expect(server.messages()).toMatchObject([
      { body: 'Be brief.\n\nOne' },
      { body: 'Two', task_id: 'id-1', resume_from: 'user_response' },
    ]);
  });

  it('starts a new task with the transcript if the server has lost the task', async () => {
    await using server = await startStubServer([capture('01'), capture('30'), capture('01')]);
    const model = provider(server)('example');
    const messages: ModelMessage[] = [{ role: 'user', content: 'One' }];
    messages.push(...(await generateText({ model, messages })).response.messages, { role: 'user', content: 'Two' });
    const again = streamText({ model, messages });
    expect(await again.text).toBe('Hello/world ☃');
    expect((await again.warnings)?.map((warning) => 'message' in warning && warning.message)).toEqual([
      expect.stringContaining('lost the task id-1'),
    ]);
    const [, lost, fresh] = server.messages();
    expect(lost).toMatchObject({ task_id: 'id-1', resume_from: 'user_response' });
    expect(fresh).not.toHaveProperty('resume_from');
    expect(fresh?.task_id).not.toBe('id-1');
    expect(fresh?.body).toMatch(/User: One\nAssistant: Hello\/world ☃\n\nThe user now says:\nTwo$/);
  });

  it('reads the remaining events from the task record after a lost connection', async () => {
    const bytes = readCaptureBytes(findCapture('03'));
    const text = new TextDecoder().decode(bytes);
    const events = text
      .split('\r\n\r\n')
      .filter((block) => block.startsWith('event: ') && !block.startsWith('event: task_complete\r'))
      .map((block) => ({ event: /^event: (.*)\r/.exec(block)?.[1], data: /data: (.*)$/.exec(block)?.[1] }));
    const half = bytes.slice(0, text.indexOf('event: action_complete'));
    await using server = await startStubServer(({ method, path }) => {
      if (method === 'POST') return { sse: half, after: 'cut' };
      return path === '/tasks' ? { json: { 'id-1': { events, is_running: false, completed: true } } } : undefined;
    });
    const result = streamText({ ...quiet, model: provider(server)('example'), prompt: 'Weather' });
    const parts: string[] = [];
    for await (const part of result.fullStream) parts.push(part.type);
    expect(await result.text).toBe('Sunny in Tokyo.');
    expect(parts.filter((type) => type === 'tool-call' || type === 'tool-result')).toEqual([
      'tool-call',
      'tool-result',
    ]);
    expect(await result.finishReason).toBe('stop');
  });

  it('fails with the connection error if there is no record', async () => {
    await using server = await startStubServer([
      { sse: readCaptureBytes(findCapture('03')).slice(0, 3000), after: 'cut' },
    ]);
    const result = streamText({ ...quiet, model: provider(server)('example'), prompt: 'Weather' });
    const errors: unknown[] = [];
    for await (const part of result.fullStream) if (part.type === 'error') errors.push(part.error);
    expect(errors).toHaveLength(1);
    expect(String(errors[0])).toContain('connection to the MAIL server was lost');
    expect(mailMetadata(await result.providerMetadata)).toMatchObject({ taskId: 'id-1', taskStatus: 'running' });
  });

  it('delivers agent events even if the text is not read', async () => {
    await using server = await startStubServer([capture('03', 'hold')]);
    const model = provider(server)('example');
    const run = streamText({ model, prompt: 'Look around' });
    const agents: string[] = [];
    for await (const event of mailEvents(model)) if (event.type === 'mail-agent-event') agents.push(event.agent);
    expect(new Set(agents)).toEqual(new Set(['supervisor', 'weather-agent']));
    expect(await run.text).toBe('Sunny in Tokyo.');
  });

  it('labels the text of every agent if agent chatter is included', async () => {
    await using server = await startStubServer([capture('03')]);
    const chatty = streamText({ model: provider(server, { includeAgentChatter: true })('example'), prompt: 'x' });
    expect(await chatty.text).toBe(
      '[supervisor]: Forecast for Tokyo?\n[weather-agent]: Sunny, 20C\n[supervisor]: Sunny in Tokyo.',
    );
    const texts = (await chatty.content).filter((part) => part.type === 'text');
    expect(texts.map(({ text, providerMetadata }) => [text, providerMetadata?.mail])).toMatchObject([
      ['[supervisor]: Forecast for Tokyo?\n', { currentAgent: 'supervisor', isAgentChatter: true }],
      ['[weather-agent]: Sunny, 20C\n', { currentAgent: 'weather-agent', isAgentChatter: true }],
      ['[supervisor]: Sunny in Tokyo.', { currentAgent: 'supervisor', isAgentChatter: false }],
    ]);
  });

  it('labels agent chatter in the stream transformer', async () => {
    const frames = new ReadableStream<MAILFrame>({
      start(controller) {
        for (const frame of readCaptureFrames(findCapture('03'))) controller.enqueue(frame);
        controller.close();
      },
    });
    const transformer = createMAILStreamTransformer({ includeAgentChatter: true, toolCalls: 'all' });
    const parts = await readAll(frames.pipeThrough(transformer));
    expect(parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')).toMatch(
      /^\[supervisor\]: .*\n/,
    );
    expect(parts.filter(({ type }) => type === 'tool-call')).toHaveLength(4);
  });

  it('labels agent chatter shown as reasoning but not the answer', async () => {
    await using server = await startStubServer([capture('03')]);
    const model = provider(server, { includeAgentChatter: 'reasoning' })('example');
    const { text, reasoningText } = await generateText({ model, prompt: 'x' });
    expect(text).toBe('Sunny in Tokyo.');
    expect(reasoningText).toContain('[supervisor]: Forecast for Tokyo?\n[weather-agent]: Sunny, 20C\n');
  });

  it('adds the agent to the metadata of every part without agent chatter', async () => {
    await using server = await startStubServer([capture('03')]);
    const result = streamText({ model: provider(server)('example'), prompt: 'x' });
    expect(await result.text).toBe('Sunny in Tokyo.');
    const metadata = (await result.content).flatMap((part) =>
      part.type !== 'tool-result' && 'providerMetadata' in part ? [part.providerMetadata?.mail] : [],
    );
    expect(metadata.length).toBeGreaterThan(2);
    for (const mail of metadata) {
      expect(mail).toMatchObject({ currentAgent: expect.any(String) as string, isAgentChatter: false });
    }
  });

  it('emits calls of MAIL’s own tools with toolCalls "all"', async () => {
    const called = async (settings: MAILModelSettings): Promise<string[]> => {
      await using server = await startStubServer([capture('03')]);
      const result = streamText({ model: provider(server)('example', settings), prompt: 'x' });
      expect(await result.text).toBe('Sunny in Tokyo.');
      const results = (await result.toolResults).map(({ toolName }) => toolName);
      expect((await result.toolCalls).map(({ toolName }) => toolName)).toEqual(results);
      return results;
    };
    expect(await called({ toolCalls: 'actions' })).toEqual(['get_weather']);
    expect(await called({ toolCalls: 'all' })).toEqual([
      'send_request',
      'get_weather',
      'send_response',
      'task_complete',
    ]);
  });

  it('warns about an unlisted tool until the swarm has called it', async () => {
    await using server = await startStubServer([capture('20', 'hold'), capture('21')]);
    const result = streamText({
      model: provider(server)('example'),
      prompt: 'Plan my trip',
      stopWhen: stepCountIs(5),
      tools: { ask_user: ask(() => 'Paris') },
    });
    expect(await result.text).toBe('You said it');
    const [first, second] = await result.steps;
    expect(first!.warnings).toMatchObject([{ type: 'unsupported', feature: 'tool ask_user' }]);
    expect(second!.warnings).toEqual([]);
  });

  it('resumes a paused task from only its resumeToken', async () => {
    for (const setting of ['taskId', 'resumeFrom'] as const) {
      await using server = await startStubServer([capture('22', 'hold'), capture('23')]);
      const mail = provider(server);
      const paused = await generateText({ model: mail('example'), prompt: 'Both' });
      const { resumeToken } = mailMetadata(paused.providerMetadata);
      const { text } = await generateText({ model: mail('example', { [setting]: resumeToken }), prompt: 'Paris' });
      expect(text).toBe('got both');
      expect(server.messages()[1]).toMatchObject({
        task_id: mailMetadata(paused.providerMetadata).taskId,
        resume_from: 'breakpoint_tool_call',
        kwargs: {
          breakpoint_tool_call_result: [
            { call_id: 'bp-a', content: 'Paris' },
            { call_id: 'bp-b', content: 'Paris' },
          ],
        },
      });
    }
  });

  it('rejects an invalid setting of a model or a call before sending a request', async () => {
    await using server = await startStubServer([capture('01')]);
    const invalid = { resumeFrom: 'somewhere' };
    const ofModel = generateText({
      maxRetries: 0,
      model: provider(server)('example', invalid as MAILModelSettings),
      prompt: 'x',
    });
    await expect(ofModel).rejects.toThrow('"resumeFrom" is "somewhere"');
    const ofCall = generateText({
      maxRetries: 0,
      model: provider(server)('example'),
      prompt: 'x',
      providerOptions: { mail: invalid },
    });
    const error: unknown = await ofCall.catch((reason: unknown) => reason);
    expect(InvalidArgumentError.isInstance(error)).toBe(true);
    expect(server.messages()).toEqual([]);
  });

  it('sends a subject and returns the server’s events as the response body', async () => {
    await using server = await startStubServer([capture('01')]);
    const prompt: LanguageModelV3Prompt = [{ role: 'user', content: [{ type: 'text', text: 'x' }] }];
    const { response } = await provider(server)('example').doGenerate({ prompt });
    expect(server.messages()[0]).toMatchObject({ subject: 'New Message' });
    expect(response?.body).toMatchObject({
      response: 'Hello/world ☃',
      events: [{ event: 'new_message' }, { event: 'tool_call', data: { task_id: 't-simple' } }, {}, {}, {}],
    });
    await generateText({ model: provider(server)('example', { subject: 'Trip' }), prompt: 'x' });
    expect(server.messages()[1]).toMatchObject({ subject: 'Trip' });
  });

  it('explains HTTP errors', async () => {
    const fail = async (answer: StubAnswer, settings: MAILProviderSettings = {}): Promise<APICallError> => {
      await using server = await startStubServer([answer]);
      const call = generateText({ maxRetries: 0, model: provider(server, settings)('default'), prompt: 'x' });
      const error: unknown = await call.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!APICallError.isInstance(error)) throw new Error(`no APICallError, but ${String(error)}`);
      return error;
    };
    const refused = await fail({ status: 401, json: { detail: 'invalid API key' } });
    expect(refused.message).toContain('rejected the key');
    expect(refused.isRetryable).toBe(false);
    const debugOnly = await fail({ status: 404, json: { detail: 'Not found' } }, { authToken: '' });
    expect(debugOnly.message).toContain('debug mode only');
    const broken = await fail({ status: 500, text: 'Internal Server Error' });
    expect(broken.isRetryable).toBe(true);
    const unable = await fail({ status: 500, json: { detail: "error processing message: type 'x' not implemented" } });
    expect(unable.isRetryable).toBe(false);
  });

  it('reports a MAIL 2 server', async () => {
    await using server = await startStubServer(({ path }) =>
      path === '/' ? { json: { protocol_name: 'mail', protocol_version: '2.0', uptime: 1 } } : undefined,
    );
    const call = generateText({ maxRetries: 0, model: provider(server)('default'), prompt: 'x' });
    await expect(call).rejects.toThrow('pip install "mail-swarms<2"');
  });

  it('warns about another swarm and rejects an entrypoint that cannot complete tasks', async () => {
    await using server = await startStubServer([capture('01')]);
    const { warnings } = await generateText({ model: provider(server)('other', {}), prompt: 'x', temperature: 1 });
    expect(warnings).toMatchObject([
      { type: 'unsupported', feature: 'temperature' },
      { type: 'other', message: expect.stringContaining('hosts the swarm "example", not "other"') as string },
    ]);
    const model = provider(server)('default', { entrypoint: 'math', bypassSupervisor: true });
    await expect(generateText({ maxRetries: 0, model, prompt: 'x' })).rejects.toThrow('cannot complete tasks');
  });

  it('rejects a breakpoint result without a token', async () => {
    await using server = await startStubServer([capture('20', 'hold')]);
    const model = provider(server, { authToken: '' })('default');
    const call = generateText({
      maxRetries: 0,
      model,
      prompt: 'x',
      stopWhen: stepCountIs(3),
      tools: { ask_user: ask(() => 'A') },
    });
    await expect(call).rejects.toThrow('needs a token');
    expect(server.requests[0]).toMatchObject({ path: '/ui/message' });
  });

  it('closes the connection on abort', async () => {
    await using server = await startStubServer([
      { sse: readCaptureBytes(findCapture('03')).slice(0, 2500), after: 'hold' },
    ]);
    const stop = new AbortController();
    const tasks: string[] = [];
    const model = provider(server, { onTask: ({ taskId }) => tasks.push(taskId) })('example');
    const result = streamText({ ...quiet, model, prompt: 'x', abortSignal: stop.signal });
    const types: string[] = [];
    for await (const part of result.fullStream) {
      types.push(part.type);
      if (part.type === 'reasoning-end') stop.abort();
    }
    expect(types.at(-1)).toBe('abort');
    expect(tasks).toEqual(['id-1']);
  });

  it.each([
    ['silenceMs', { silenceMs: 30, reattach: false }, 'was silent for 30 ms'],
    ['progressMs', { progressMs: 30 }, 'no progress for 30 ms'],
  ])('fails after the timeout %s', async (_name, limits, message) => {
    await using server = await startStubServer([
      { sse: readCaptureBytes(findCapture('03')).slice(0, 2500), after: 'hold' },
    ]);
    const result = streamText({ ...quiet, model: provider(server)('default', limits), prompt: 'x' });
    const errors: string[] = [];
    for await (const part of result.fullStream) if (part.type === 'error') errors.push(String(part.error));
    expect(errors).toEqual([expect.stringContaining(message)]);
  });
});

/** Formats a part as one line without ids and times, which differ between runs. */
function summarize(part: object): string {
  const { type, text, toolName, input, output, error, providerExecuted, finishReason, ...rest } = part as Record<
    string,
    unknown
  >;
  const { mail } = (rest.providerMetadata ?? {}) as { mail?: { taskStatus?: string } };
  const shown = {
    text,
    toolName,
    input,
    output,
    error: error instanceof Error ? error.message : error,
    providerExecuted,
    finishReason,
    taskStatus: type === 'finish-step' ? mail?.taskStatus : undefined,
  };
  return `${String(type)} ${JSON.stringify(shown)}`;
}

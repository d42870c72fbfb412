import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { startMAILDemo, type MAILDemoServer } from '../src/demo.ts';
import { createMAIL, mail, mailEvents, mailMetadata, toSwarmActions } from '../src/index.ts';
import { majors } from './majors.ts';

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

describe.each(majors)('programs of usage.md on ai %s', (_, { streamText, stepCountIs, tool }) => {
  let demo: MAILDemoServer;
  const prompt = async (question: string): Promise<string> => `comfort, as for "${question}"`;

  beforeAll(async () => {
    demo = await startMAILDemo({ paceMs: 1 });
    vi.stubEnv('MAIL_BASE_URL', demo.url);
    vi.stubEnv('MAIL_API_KEY', 'demo');
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await demo.stop();
  });

  it('runs programs 1 and 2: a swarm as a model, and its continuation', async () => {
    const first = streamText({ model: mail('research-swarm'), prompt: 'Where does the time go in our build?' });
    let text = '';
    for await (const chunk of first.textStream) text += chunk;
    const taskId = (await first.providerMetadata)?.mail?.taskId;
    const { agentTrace } = mailMetadata(await first.providerMetadata);
    expect(text).not.toBe('');
    expect(agentTrace.length).toBeGreaterThan(5);
    expect(await first.warnings).toMatchObject([
      { message: expect.stringContaining('hosts the swarm "demo"') as string },
    ]);

    const second = streamText({
      model: mail('research-swarm', { taskId, resumeFrom: 'user_response' }),
      prompt: 'And on CI?',
    });
    expect(await second.text).toContain('And on CI?');
    expect((await second.providerMetadata)?.mail?.taskId).toBe(taskId);
    expect(await second.usage).toMatchObject({ inputTokens: undefined, outputTokens: undefined });
  });

  it('runs program 3: configuration, several servers, one agent, the object form', async () => {
    const company = createMAIL({
      baseUrl: 'https://mail.example.com',
      authToken: process.env.MAIL_API_KEY ?? '',
      includeAgentChatter: true,
      swarms: { support: demo.url },
    });
    const direct = { entrypoint: 'supervisor', bypassSupervisor: true };
    const late = streamText({ model: company('support', direct), prompt: 'Order 12345 is late' });
    expect(await late.text).toContain('Order 12345 is late');
    expect(await late.warnings).toEqual([]);
    const hello = streamText({ model: mail({ baseUrl: demo.url, swarm: 'demo' }), prompt: 'hello' });
    expect(await hello.text).toContain('Hello!');
  });

  it('runs program 4: the swarm asks and the program answers', async () => {
    const trip = streamText({
      model: mail('research-swarm'),
      prompt: 'Plan my trip',
      stopWhen: stepCountIs(5),
      tools: {
        ask_user: tool({
          inputSchema: z.object({ question: z.string() }),
          execute: async ({ question }) => prompt(question),
        }),
      },
    });
    expect(await trip.text).toContain('You said: comfort');
  });

  it('runs program 5: events of every agent', async () => {
    const model = mail('research-swarm');
    const run = streamText({ model, prompt: 'Look around' });
    const lines: string[] = [];
    for await (const event of mailEvents(model)) {
      if (event.type === 'mail-agent-event') lines.push(`[${event.agent}] ${event.description}`);
    }
    expect(lines).toContain('[researcher] agent researcher called search');
    expect(await run.finishReason).toBe('stop');
  });

  it('builds the block for swarms.json', async () => {
    const tools = { ask_user: tool({ description: 'Ask', inputSchema: z.object({ question: z.string() }) }) };
    expect(await toSwarmActions(tools)).toMatchObject({
      breakpoint_tools: ['ask_user'],
      actions: [{ name: 'ask_user', description: 'Ask', parameters: { type: 'object', required: ['question'] } }],
    });
  });

  it('throws for other model types', () => {
    expect(() => mail.embeddingModel('x')).toThrow('language model');
    expect(() => mail.imageModel('x')).toThrow('language model');
  });
});

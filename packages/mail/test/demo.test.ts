import { generateText, stepCountIs, streamText, tool, type ModelMessage } from 'ai';
import { check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startMAILDemo, type MAILDemoOptions } from '../src/demo.ts';
import { createMAIL, mailProtocol, mailMetadata, type MAILFrame, type MAILProvider } from '../src/index.ts';
import { readFrames } from '../src/client/sse-frames.ts';

async function withDemo<T>(
  work: (mail: MAILProvider, url: string) => Promise<T>,
  options: MAILDemoOptions = {},
): Promise<T> {
  const demo = await startMAILDemo({ paceMs: 1, ...options });
  try {
    return await work(createMAIL({ baseUrl: demo.url, authToken: 'demo' }), demo.url);
  } finally {
    await demo.stop();
  }
}

async function post(url: string, body: object): Promise<MAILFrame[]> {
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { authorization: 'Bearer demo' },
    body: JSON.stringify({ stream: true, ...body }),
  });
  const frames: MAILFrame[] = [];
  for await (const frame of readFrames(response.body!)) frames.push(frame);
  return frames;
}

describe('MAIL demo server', () => {
  it('answers a question and labels itself as a script', async () => {
    await withDemo(async (mail) => {
      const result = streamText({ model: mail('demo'), prompt: 'Where does the time go in our build?' });
      expect(await result.text).toContain('I am a script');
      expect((await result.toolResults).map(({ toolName }) => toolName)).toEqual(['search']);
      const { agentTrace, taskStatus } = mailMetadata(await result.providerMetadata);
      expect(new Set(agentTrace.map(({ agent }) => agent))).toEqual(new Set(['supervisor', 'researcher', 'writer']));
      expect(taskStatus).toBe('completed');
    });
  });

  it('resumes a breakpoint without waiting for the delayed end of the stream', async () => {
    await withDemo(async (mail) => {
      const { text, steps } = await generateText({
        model: mail('demo', { breakpointTools: ['ask_user'] }),
        prompt: 'Plan my trip',
        stopWhen: stepCountIs(3),
        tools: { ask_user: tool({ inputSchema: z.object({ question: z.string() }), execute: async () => 'money' }) },
      });
      expect(text).toContain('Go by bus.');
      expect(steps).toHaveLength(2);
    });
  });

  it('continues one task over three messages', async () => {
    await withDemo(async (mail) => {
      const messages: ModelMessage[] = [];
      const tasks = new Set<string>();
      for (const content of ['Hello', 'What is a swarm, in a sentence?', 'Thanks']) {
        messages.push({ role: 'user', content });
        const { response, providerMetadata } = await generateText({ model: mail('demo'), messages });
        messages.push(...response.messages);
        tasks.add(mailMetadata(providerMetadata).taskId);
      }
      expect(tasks.size).toBe(1);
    });
  });

  it('fails like the real server', async () => {
    await withDemo(async (mail) => {
      const call = generateText({ maxRetries: 0, model: mail('demo'), prompt: 'Please fail' });
      await expect(call).rejects.toThrow('completion failed after 5 retries');
    });
  });

  it('follows the dialect’s rules, including delayed ends', async () => {
    await withDemo(
      async (_, url) => {
        for (const body of ['Hello', 'Tell me about build times', 'Plan a trip', 'Please fail']) {
          const frames = await post(url, { body, task_id: body });
          expect(check(mailProtocol, frames).violations).toEqual([]);
          expect(frames.at(-1)?.event).toBe('task_complete');
        }
        const paused = await post(url, { body: 'Decide', task_id: 'p' });
        expect(paused.map(({ event }) => event).slice(-3)).toEqual(['breakpoint_tool_call', 'ping', 'task_complete']);
        expect(await post(url, { body: 'x', task_id: 'ghost', resume_from: 'user_response' })).toMatchObject([
          { event: 'task_error', data: expect.stringContaining("task 'ghost' not found") as string },
        ]);
      },
      { stallMs: 20 },
    );
  });

  it('reproduces the hang of a completed task, which the model detects', async () => {
    await withDemo(async (mail) => {
      const model = mail('demo', { taskId: 'mine' });
      await generateText({ model, prompt: 'Hello' });
      await expect(generateText({ maxRetries: 0, model, prompt: 'Hello' })).rejects.toThrow('already complete');
    });
  });

  it('accepts only the configured key and rejects /ui without debug mode', async () => {
    await withDemo(
      async (mail, url) => {
        await expect(generateText({ maxRetries: 0, model: mail('demo'), prompt: 'x' })).rejects.toThrow(
          'rejected the key',
        );
        expect(await createMAIL({ baseUrl: url, authToken: '' }).check()).toMatchObject({ ok: false, auth: 'none' });
        expect(await createMAIL({ baseUrl: url, authToken: 'right' }).check({ swarm: 'demo' })).toMatchObject({
          ok: true,
        });
      },
      { apiKey: 'right', debug: false },
    );
  });

  it('serves the task record, from which a lost connection is resumed', async () => {
    await withDemo(async (_, url) => {
      let isCut = false;
      const cutting: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (init?.method !== 'POST') return response;
        isCut = true;
        const reader = response.body!.getReader();
        let chunks = 0;
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            chunks += 1;
            if (chunks > 3) return controller.error(new TypeError('terminated'));
            const { value } = await reader.read();
            controller.enqueue(value!);
          },
        });
        return new Response(body, response);
      };
      for (const authToken of ['demo', '']) {
        const mail = createMAIL({ baseUrl: url, authToken, fetch: cutting });
        const result = await generateText({ model: mail('demo'), prompt: 'What is known about lost connections?' });
        expect(result.text).toContain('one can be relied upon');
        expect(result.toolResults).toHaveLength(1);
      }
      expect(isCut).toBe(true);
    });
  });
});

import { foldEvents, type AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { call, collect, finish, majors, scriptedModel, text } from '../../../ai-sdk/test/scripted-model.ts';
import { serve } from '../../test/serve-tool.ts';
import { testIO } from '../../test/tool-io.ts';
import { checkStream } from './check/check.ts';
import { convert } from './convert/convert.ts';

describe.each(majors)('streams of $name', ({ ai, major }) => {
  const stream = (): { toUIMessageStreamResponse(): Response; fullStream: AsyncIterable<unknown> } =>
    ai.streamText({
      model: scriptedModel(
        [...text('0', 'Let me ', 'look.'), call('c', 'weather', { city: 'Oslo' }), finish('tool-calls')],
        [...text('0', 'It is sunny.'), finish()],
      ),
      prompt: 'How is the weather?',
      tools: { weather: ai.tool({ inputSchema: z.object({ city: z.string() }), execute: async () => 'sun' }) },
      stopWhen: ai.stepCountIs(3),
    });

  it('detects, checks and converts a UI message stream', async () => {
    const url = await serve(() => stream().toUIMessageStreamResponse());
    const io = testIO();
    expect(await checkStream({ input: url, json: true, variants: { 'ui-version': String(major) } }, io)).toBe(0);
    expect(JSON.parse(io.stdout.text)).toMatchObject({ protocol: 'ui-message-stream', looksLike: 'ui-message-stream' });
    for (const to of ['ag-ui', 'canonical']) {
      const converted = testIO();
      expect(await convert({ input: url, to, quiet: true }, converted)).toBe(0);
      expect(await checkStream({ json: true }, testIO({ input: converted.stdout.text }))).toBe(0);
    }
  });

  it.each(['canonical', 'ag-ui', 'ui-message-stream'])('detects a full stream and converts it to %s', async (to) => {
    const parts = await collect(stream().fullStream);
    const input = parts.map((part) => `${JSON.stringify(part)}\n`).join('');
    const io = testIO({ input });
    expect(await convert({ to, format: 'ndjson', json: true }, io)).toBe(0);
    expect(JSON.parse(io.stderr.text)).toMatchObject({ from: 'ai-sdk', cut: 0, runs: 1 });
    expect(await checkStream({ json: true, as: to }, testIO({ input: io.stdout.text }))).toBe(0);
    const back = testIO({ input: io.stdout.text });
    await convert({ from: to, to: 'canonical', quiet: true }, back);
    const events = back.stdout.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as AgentEvent);
    const shown = foldEvents(events)?.content.parts.map((part) =>
      part.type === 'text'
        ? part.text
        : part.type === 'tool-invocation'
          ? [part.toolName, part.state, part.result]
          : part.type,
    );
    expect(shown).toEqual(['Let me look.', ['weather', 'result', 'sun'], 'It is sunny.']);
  });
});

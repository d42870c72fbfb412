import { compose, seal, transcode, validateEvent, type AgentEvent } from '@intertie/core';
import { createLanguageModelV3Encoder } from '@intertie/ai-sdk';
import { canonical, check } from '@intertie/conformance';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMAILDecoder, createMAILStreamTransformer, type MAILFrame } from '../src/index.ts';
import { readFrames } from '../src/client/sse-frames.ts';
import { readCaptureBytes, readCaptureFrames, captures, run } from './captures.ts';

const name = fc.constantFrom(...captures);

/** A capture with dropped, duplicated, reordered, inserted and corrupted frames. */
const broken: fc.Arbitrary<MAILFrame[]> = fc
  .tuple(
    name,
    name,
    fc.array(
      fc.record({
        how: fc.constantFrom('drop', 'double', 'swap', 'cut', 'insert', 'corrupt', 'parse', 'rename', 'junk'),
        at: fc.nat(40),
        to: fc.nat(40),
        junk: fc.jsonValue(),
      }),
      { maxLength: 8 },
    ),
  )
  .map(([one, other, changes]) => {
    const frames = readCaptureFrames(one);
    const more = readCaptureFrames(other);
    for (const { how, at, to, junk } of changes) {
      const index = frames.length === 0 ? 0 : at % frames.length;
      const frame = frames[index];
      const text = String(frame?.data);
      if (!frame) break;
      if (how === 'drop') frames.splice(index, 1);
      if (how === 'double') frames.splice(to % (frames.length + 1), 0, frame);
      if (how === 'swap') frames.splice(to % frames.length, 0, ...frames.splice(index, 1));
      if (how === 'cut') frames.splice(index);
      if (how === 'insert') frames.splice(index, 0, more[to % more.length]!);
      if (how === 'corrupt') frames[index] = { ...frame, data: text.slice(0, to * 5) + text.slice(to * 5 + at) };
      if (how === 'parse')
        frames[index] = { ...frame, data: { ...(JSON.parse(`{"x":${JSON.stringify(junk)}}`) as object) } };
      if (how === 'rename') frames[index] = { ...frame, event: more[to % more.length]!.event };
      if (how === 'junk')
        frames.splice(index, 0, { event: frame.event, data: { extra_data: junk, description: junk } });
    }
    return frames;
  });

describe('arbitrary server events', () => {
  it('decodes to valid events, so that the seal can trust the decoder', () => {
    fc.assert(
      fc.property(broken, fc.boolean(), (frames, includeEvents) => {
        const problems = transcode(createMAILDecoder(run, { includeEvents }), frames).map(validateEvent);
        expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('decodes to one valid run with one finish part', () => {
    fc.assert(
      fc.property(broken, (frames) => {
        const events: AgentEvent[] = transcode(
          compose(
            createMAILDecoder(run),
            seal(run, () => undefined, { trusted: true }),
          ),
          frames,
        );
        expect(check(canonical, events).violations).toEqual([]);
        const parts = transcode(createLanguageModelV3Encoder(), events);
        expect(parts.filter(({ type }) => type === 'finish')).toHaveLength(1);
        expect(parts.at(-1)).toMatchObject({ type: 'finish', providerMetadata: { mail: {} } });
        expect(parts.filter(({ type }) => type === 'error').length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });

  it('parses the same frames for any chunk sizes and line ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        name,
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 }),
        fc.boolean(),
        async (capture, sizes, isUnix) => {
          const text = new TextDecoder().decode(readCaptureBytes(capture));
          const bytes = new TextEncoder().encode(isUnix ? text.replaceAll('\r\n', '\n') : text);
          const body = new ReadableStream<Uint8Array>({
            start(controller) {
              for (let start = 0, index = 0; start < bytes.length; index += 1) {
                const end = start + sizes[index % sizes.length]!;
                controller.enqueue(bytes.slice(start, end));
                start = end;
              }
              controller.close();
            },
          });
          const read: MAILFrame[] = [];
          for await (const frame of readFrames(body)) if (frame.event !== 'ping') read.push(frame);
          expect(read).toEqual(readCaptureFrames(capture).filter(({ event }) => event !== 'ping'));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('ends the transformed stream with one finish part', async () => {
    await fc.assert(
      fc.asyncProperty(broken, async (frames) => {
        const parts: string[] = [];
        const source = new ReadableStream<MAILFrame>({
          start(controller) {
            for (const frame of frames) controller.enqueue(frame);
            controller.close();
          },
        });
        const reader = source.pipeThrough(createMAILStreamTransformer({ taskId: 'T' })).getReader();
        for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value.type);
        expect(parts[0]).toBe('stream-start');
        expect(parts.filter((type) => type === 'finish')).toHaveLength(1);
        expect(parts.at(-1)).toBe('finish');
      }),
      { numRuns: 100 },
    );
  });
});

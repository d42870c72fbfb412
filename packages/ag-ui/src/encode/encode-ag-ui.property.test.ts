import { arbitraryContinuation, arbitraryRun, type ArbitraryRun } from '@intertie/conformance/arbitraries';
import { seal, transcode, type AgentEvent } from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replay, schemaProblems, verify } from '../../test/ag-ui-client.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIEncoderOptions } from './ag-ui-encoder-options.ts';
import { createAGUIEncoder } from './encode-ag-ui.ts';

const sealed = ({ run, events, end }: ArbitraryRun): AgentEvent[] =>
  transcode(
    seal(run, () => undefined),
    events,
    end,
  );
const encode = (events: AgentEvent[], options: AGUIEncoderOptions): AGUIEvent[] =>
  transcode(createAGUIEncoder(options), events);

const terminals = new Set(['RUN_FINISHED', 'RUN_ERROR']);
const options = fc.record<AGUIEncoderOptions>(
  {
    protocolVersion: fc.constantFrom('1.0', '0.0.59', '0.0.45'),
    form: fc.constantFrom('triads', 'chunks'),
    stepNames: fc.constantFrom('turns', 'phases'),
    timestamps: fc.boolean(),
    sendInternal: fc.boolean(),
    sendReasoning: fc.boolean(),
    preliminary: fc.constantFrom('activity', 'withhold'),
    messages: fc.constant([]),
    snapshot: fc.boolean(),
    result: fc.constantFrom('run', 'text'),
  },
  { requiredKeys: [] },
);

describe('createAGUIEncoder with any run', { timeout: 60_000 }, () => {
  it('emits valid events that the official client accepts, with one terminal event', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRun(), options, async (run, how) => {
        const events = encode(sealed(run), how);
        expect(schemaProblems(events)).toEqual([]);
        expect(events.filter(({ type }) => terminals.has(type))).toEqual([events.at(-1)]);
        // The verifier does not expand chunks, so it is called directly only for triads.
        expect(how.form === 'chunks' ? undefined : await verify(events)).toBeUndefined();
        const { error, warnings } = await replay([events]);
        expect({ error, warnings }).toEqual({ error: undefined, warnings: [] });
      }),
      { numRuns: 100 },
    );
  });

  it('emits a continuation that the official client accepts', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryContinuation(), options, async ({ paused, continued }, how) => {
        const streams = [paused, continued].map((run) => encode(sealed(run), how));
        expect(streams.flatMap(schemaProblems)).toEqual([]);
        const { error, warnings } = await replay([streams[1]!]);
        expect({ error, warnings }).toEqual({ error: undefined, warnings: [] });
      }),
      { numRuns: 50 },
    );
  });

  it('encodes a prefix of a run to a prefix of its encoding', () => {
    fc.assert(
      fc.property(arbitraryRun(), options, fc.nat(), (run, how, cut) => {
        const events = sealed(run);
        const whole = encode(events, how);
        const encoder = createAGUIEncoder(how);
        const part: AGUIEvent[] = [];
        for (const event of events.slice(0, cut % (events.length + 1))) encoder.feed(event, (out) => part.push(out));
        expect(part).toEqual(whole.slice(0, part.length));
      }),
    );
  });

  it('gives a client that joins anywhere the same messages', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryRun(),
        fc.nat(),
        fc.nat(),
        fc.constantFrom('1.0', undefined),
        async (run, cut, part, version) => {
          const events = sealed(run);
          // Discarded content is not sent to a client that joins later.
          fc.pre(!events.some((event) => event.type === 'step-end' && event.discarded));
          const how = version === undefined ? {} : { protocolVersion: version };
          const at = 1 + (cut % events.length);
          let sentBefore = 0;
          const before = createAGUIEncoder(how);
          for (const event of events.slice(0, at)) before.feed(event, () => void (sentBefore += 1));
          const encoder = createAGUIEncoder(how);
          const joined: AGUIEvent[] = [];
          const emit = (event: AGUIEvent): void => void joined.push(event);
          encoder.open?.({ history: [], events: events.slice(0, at) }, emit);
          for (const event of events.slice(at)) encoder.feed(event, emit);
          const late = await replay([joined]);
          expect(late.error).toBeUndefined();
          expect(late.warnings).toEqual([]);
          const all = encode(events, how);
          const whole = await replay([all]);
          const summarize = (messages: typeof late.messages): unknown =>
            messages
              // Results of client tools are sent only to a client that joins.
              .filter(({ role }) => role !== 'activity' && role !== 'tool')
              .map((message) => [message.id, message.role, 'content' in message ? (message.content ?? '') : '']);
          expect(summarize(late.messages)).toEqual(summarize(whole.messages));
          // A client that has received some events and missed others. One that has the end of the run does not join it.
          const seen = all.slice(0, part % Math.min(sentBefore + 1, all.length));
          const back = await replay([seen, joined]);
          expect({ error: back.error, warnings: back.warnings }).toEqual({ error: undefined, warnings: [] });
          expect(summarize(back.messages)).toEqual(summarize(whole.messages));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('createAGUIEncoder().open', () => {
  const agent = (agentId: string, kind: 'agent' | 'node', parentAgentId?: string): AgentEvent => ({
    type: 'agent-start',
    agentId,
    name: agentId,
    kind,
    ...(parentAgentId !== undefined && { parentAgentId }),
  });
  const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' };
  const paused: AgentEvent = { type: 'agent-end', agentId: 'a', outcome: 'paused', waitingFor: [] };

  it.each([
    ['a node whose parent has ended and starts again', [agent('b', 'node', 'a'), paused], [agent('a', 'agent', 'b')]],
    [
      'an agent whose parent has ended and started again',
      [agent('b', 'agent', 'a'), paused, agent('a', 'agent', 'b')],
      [],
    ],
  ])('opens %s', async (_, before, after) => {
    const encoder = createAGUIEncoder({ protocolVersion: '1.0' });
    const joined: AGUIEvent[] = [];
    const emit = (event: AGUIEvent): void => void joined.push(event);
    encoder.open?.({ history: [], events: [start, agent('a', 'agent'), ...before] }, emit);
    for (const event of [...after, { type: 'run-end', outcome: 'complete' } as const]) encoder.feed(event, emit);
    const { error, warnings } = await replay([joined]);
    expect({ error, warnings }).toEqual({ error: undefined, warnings: [] });
  });
});

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

describe('whatever a run does', { timeout: 60_000 }, () => {
  it('every event is valid, the client takes all of it without a word, and it ends once', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryRun(), options, async (run, how) => {
        const events = encode(sealed(run), how);
        expect(schemaProblems(events)).toEqual([]);
        expect(events.filter(({ type }) => terminals.has(type))).toEqual([events.at(-1)]);
        // The verifier stands behind the client's reading of chunks; it is asked by itself where there are none.
        expect(how.form === 'chunks' ? undefined : await verify(events)).toBeUndefined();
        const { error, warnings } = await replay([events]);
        expect({ error, warnings }).toEqual({ error: undefined, warnings: [] });
      }),
      { numRuns: 100 },
    );
  });

  it('a continuation is taken too', async () => {
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

  it('the encoding of a prefix is a prefix of the encoding', () => {
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

  it('a client that joins anywhere ends with what it would have had', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryRun(),
        fc.nat(),
        fc.nat(),
        fc.constantFrom('1.0', undefined),
        async (run, cut, part, version) => {
          const events = sealed(run);
          // What was taken back is told to nobody who joins later.
          fc.pre(!events.some((event) => event.type === 'step-end' && event.discarded));
          const how = version === undefined ? {} : { protocolVersion: version };
          const at = 1 + (cut % events.length);
          let toldBefore = 0;
          const before = createAGUIEncoder(how);
          for (const event of events.slice(0, at)) before.feed(event, () => void (toldBefore += 1));
          const encoder = createAGUIEncoder(how);
          const joined: AGUIEvent[] = [];
          const emit = (event: AGUIEvent): void => void joined.push(event);
          encoder.open?.({ history: [], events: events.slice(0, at) }, emit);
          for (const event of events.slice(at)) encoder.feed(event, emit);
          const late = await replay([joined]);
          expect(late.error).toBeUndefined();
          expect(late.warnings).toEqual([]);
          const whole = await replay([encode(events, how)]);
          const words = (messages: typeof late.messages): unknown =>
            messages
              // Of its own results only a client that joins late is told.
              .filter(({ role }) => role !== 'activity' && role !== 'tool')
              .map((message) => [message.id, message.role, 'content' in message ? (message.content ?? '') : '']);
          expect(words(late.messages)).toEqual(words(whole.messages));
          // One that has seen a part of it before, and missed some.
          const seen = encode(events, how).slice(0, part % (toldBefore + 1));
          const back = await replay([seen, joined]);
          expect({ error: back.error, warnings: back.warnings }).toEqual({ error: undefined, warnings: [] });
          expect(words(back.messages)).toEqual(words(whole.messages));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a client that joins a run', () => {
  it('decodes a node whose parent has ended and starts again', async () => {
    const events: AgentEvent[] = [
      { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
      { type: 'agent-start', agentId: 'a', name: 'parent', kind: 'agent' },
      { type: 'agent-start', agentId: 'n', name: 'node', kind: 'node', parentAgentId: 'a' },
      { type: 'agent-end', agentId: 'a', outcome: 'paused', waitingFor: [] },
    ];
    const encoder = createAGUIEncoder({ protocolVersion: '1.0' });
    const joined: AGUIEvent[] = [];
    const emit = (event: AGUIEvent): void => void joined.push(event);
    encoder.open?.({ history: [], events }, emit);
    encoder.feed({ type: 'agent-start', agentId: 'a', name: 'parent', kind: 'agent', parentAgentId: 'n' }, emit);
    encoder.feed({ type: 'run-end', outcome: 'complete' }, emit);
    const { error, warnings } = await replay([joined]);
    expect({ error, warnings }).toEqual({ error: undefined, warnings: [] });
  });
});

import { arbitraryRun, type ArbitraryRun } from '@intertie/conformance/arbitraries';
import {
  compose,
  foldEvents,
  seal,
  transcode,
  type AgentEvent,
  type CanonicalMessage,
  type MessagePart,
} from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAGUIDecoder } from '../src/decode/decode-ag-ui.ts';
import { createAGUIEncoder } from '../src/encode/encode-ag-ui.ts';

const sealed = ({ run, events, end }: ArbitraryRun): AgentEvent[] =>
  transcode(
    seal(run, () => undefined),
    events,
    end,
  );

/** The message without what AG-UI cannot say, each of which is in the ledger. */
function sayable(message: CanonicalMessage | undefined): unknown {
  if (!message) return undefined;
  const { parts, metadata, agents = {} } = message.content;
  return {
    status: message.status,
    metadata,
    agents: Object.entries(agents).flatMap(([id, { name, kind }]) => (kind === 'voice' ? [] : [[id, name, kind]])),
    parts: parts.map(plain),
  };
}

function plain(part: MessagePart): unknown {
  const { ...kept }: { [key: string]: unknown } = { ...part };
  // Withheld: the client has its own results.
  if (part.type === 'tool-invocation' && part.executor === 'client') {
    for (const key of ['preliminary', 'result', 'resultContent', 'resultMetadata', 'state', 'error']) delete kept[key];
  }
  // A call and its id are one thing to AG-UI.
  if (part.type === 'tool-invocation') delete kept.id;
  return kept;
}

describe('out and in again', () => {
  it('gives back the message, whatever the run did', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(arbitraryRun(), (run) => {
        // Withheld: a client takes every result for the last one.
        const events = sealed(run).filter((event) => !('preliminary' in event));
        // What was taken back is not untold: the ledger names it.
        fc.pre(!events.some((event) => event.type === 'step-end' && event.discarded));
        // To AG-UI, an agent that goes on after a pause is another one.
        const started = events.flatMap((event) => (event.type === 'agent-start' ? [event.agentId] : []));
        fc.pre(new Set(started).size === started.length);
        const wire = transcode(createAGUIEncoder({ protocolVersion: '1.0', sendInternal: true }), events);
        const back = transcode(
          compose(
            createAGUIDecoder(run.run),
            seal(run.run, () => undefined),
          ),
          JSON.parse(JSON.stringify(wire)) as unknown[],
        );
        expect(sayable(foldEvents(back))).toEqual(sayable(foldEvents(events)));
      }),
      { numRuns: 300 },
    );
  });

  it('never throws, whatever it is fed', () => {
    fc.assert(
      fc.property(arbitraryRun(), fc.array(fc.nat()), (run, picks) => {
        const wire = transcode(createAGUIEncoder({ protocolVersion: '1.0' }), sealed(run)) as unknown[];
        const broken = picks.map((pick) => wire[pick % Math.max(wire.length, 1)]);
        const fed = [...broken, ...wire.map((event) => ({ ...(event as object), messageId: undefined })), null, 5, {}];
        const events = transcode(
          compose(
            createAGUIDecoder(run.run),
            seal(run.run, () => undefined),
          ),
          fed,
        );
        expect(events.at(-1)?.type).toBe('run-end');
      }),
    );
  });
});

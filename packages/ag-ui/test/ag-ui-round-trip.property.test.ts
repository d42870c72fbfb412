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

/** Returns the message without the parts that AG-UI cannot carry, all of which are reported as losses. */
function toComparable(message: CanonicalMessage | undefined): unknown {
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
  const { ...fields }: { [key: string]: unknown } = { ...part };
  // Withheld, because the client has its own results.
  if (part.type === 'tool-invocation' && part.executor === 'client') {
    for (const key of ['preliminary', 'result', 'resultContent', 'resultMetadata', 'state', 'error'])
      delete fields[key];
  }
  // AG-UI does not distinguish the part id from the call id.
  if (part.type === 'tool-invocation') delete fields.id;
  return fields;
}

describe('the AG-UI encoder and decoder', () => {
  it('restores the message of any run', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(arbitraryRun(), (run) => {
        // Withheld, because clients treat every result as final.
        const events = sealed(run).filter((event) => !('preliminary' in event));
        // Discarded content was already streamed and is reported as a loss.
        fc.pre(!events.some((event) => event.type === 'step-end' && event.discarded));
        // An agent that resumes after a pause is a new sub-agent to AG-UI.
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
        expect(toComparable(foldEvents(back))).toEqual(toComparable(foldEvents(events)));
      }),
      { numRuns: 300 },
    );
  });

  it('never throws on broken streams', () => {
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

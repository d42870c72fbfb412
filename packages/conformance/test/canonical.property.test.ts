import {
  foldEvents,
  formatTape,
  MessageList,
  parseTape,
  seal,
  transcode,
  unfold,
  validateEvent,
  type AgentEvent,
  type CanonicalMessage,
  type Json,
  type Loss,
} from '@intertie/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryContinuation, arbitraryRun, type ArbitraryRun } from '../src/arbitraries/arbitrary-run.ts';
import { canonical } from '../src/checker/canonical.ts';
import { check } from '../src/checker/check.ts';
import { slowFold } from './slow-fold.ts';

// One run is as many checks as it has events. `npm run soak` takes more runs.
const everyCutRuns = { numRuns: 50 };

const cutAt = (
  { run, events, end }: ArbitraryRun,
  index: number,
  onLoss: (loss: Loss) => void = () => undefined,
): AgentEvent[] => transcode(seal(run, onLoss), events.slice(0, index), end);

function eachCut(arbitrary: ArbitraryRun, assert: (sealed: AgentEvent[], index: number) => void): void {
  for (let index = 0; index <= arbitrary.events.length; index++) assert(cutAt(arbitrary, index), index);
}

const violations = (events: AgentEvent[]): string[] =>
  check(canonical, events).violations.map(({ index, rule, message }) => `${index} ${rule} ${message}`);

/** JSON that is independent of the key order. */
const canonicalJson = (event: AgentEvent): string =>
  JSON.stringify(Object.entries(event).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Unfolds and folds a message again. */
const refold = (message: CanonicalMessage): CanonicalMessage => foldEvents(unfold(message))!;

describe('seal, fold and tape on random runs that are cut at every index', () => {
  it('seals every prefix into a run without violations', () => {
    fc.assert(
      fc.property(arbitraryRun(), (arbitrary) => {
        eachCut(arbitrary, (sealed) => {
          expect(violations(sealed)).toEqual([]);
          for (const event of sealed) expect(validateEvent(event)).toBeUndefined();
        });
      }),
      everyCutRuns,
    );
  });

  it('passes a valid run through the seal without losses', () => {
    fc.assert(
      fc.property(arbitraryRun(), (arbitrary) => {
        const losses: Loss[] = [];
        const sealed = cutAt(arbitrary, arbitrary.events.length, (loss) => losses.push(loss));
        expect(losses).toEqual([]);
        const kept = new Set(sealed.map((event) => canonicalJson(event)));
        const lost = arbitrary.events.filter((event) => event.type !== 'run-end' && !kept.has(canonicalJson(event)));
        expect(lost).toEqual([]);
      }),
    );
  });

  it('folds like the reference model', () => {
    fc.assert(
      fc.property(arbitraryRun(), (arbitrary) => {
        eachCut(arbitrary, (sealed) => expect(foldEvents(sealed)).toEqual(slowFold(sealed)));
      }),
      everyCutRuns,
    );
  });

  it('takes the same snapshots at any time', () => {
    fc.assert(
      fc.property(arbitraryRun(), fc.array(fc.boolean(), { minLength: 100, maxLength: 100 }), (arbitrary, takes) => {
        const sealed = cutAt(arbitrary, arbitrary.events.length);
        const list = new MessageList();
        const taken = sealed.flatMap((event, index) => {
          list.feed(event);
          return takes[index % takes.length] ? [{ index, snapshot: list.snapshot()! }] : [];
        });
        for (const { index, snapshot } of taken) expect(snapshot.message).toEqual(slowFold(sealed.slice(0, index + 1)));
      }),
    );
  });

  it('restores a message from its unfolded events', () => {
    fc.assert(
      fc.property(arbitraryRun(), (arbitrary) => {
        eachCut(arbitrary, (sealed) => {
          const message = foldEvents(sealed)!;
          const events = unfold(message);
          expect(violations(events)).toEqual([]);
          expect(foldEvents(events)).toEqual(message);
        });
      }),
      everyCutRuns,
    );
  });

  it('round-trips through a tape byte for byte', () => {
    fc.assert(
      fc.property(arbitraryRun(), (arbitrary) => {
        eachCut(arbitrary, (sealed) => {
          const items = sealed.map((item, t) => ({ t, item: item as Json }));
          const text = formatTape({ header: { tape: 1, dialect: 'canonical' }, items });
          const tape = parseTape(text);
          expect(tape.items.map(({ item }) => item)).toEqual(sealed);
          expect(formatTape(tape)).toBe(text);
        });
      }),
      everyCutRuns,
    );
  });

  it('adds one run to the message when a continuation emits nothing', () => {
    fc.assert(
      fc.property(arbitraryRun(), (arbitrary) => {
        const message = foldEvents(cutAt(arbitrary, arbitrary.events.length))!;
        const run = { ...arbitrary.run, runId: 'run-2', resumes: 'run-1', message: message.content };
        const again = foldEvents(
          transcode(
            seal(run, () => undefined),
            [{ type: 'run-end', outcome: 'complete' }],
          ),
          {
            messages: [message],
          },
        )!;
        expect(again.content).toEqual({
          ...message.content,
          runs: [...message.content.runs!, { runId: 'run-2', outcome: 'complete' }],
        });
      }),
    );
  });

  it('seals any prefix of a log into a valid run during recovery', () => {
    fc.assert(
      fc.property(arbitraryRun(), fc.nat(), (arbitrary, place) => {
        const log = cutAt(arbitrary, arbitrary.events.length);
        const prefix = log.slice(0, 1 + (place % (log.length - 1)));
        const codec = seal(arbitrary.run, () => undefined);
        for (const event of prefix) codec.feed(event, () => undefined);
        const closing: AgentEvent[] = [];
        codec.end({ reason: 'error', error: { message: 'The process is gone.', code: 'lost' } }, (event) =>
          closing.push(event),
        );
        expect(violations([...prefix, ...closing])).toEqual([]);
        expect(closing.filter((event) => event.type === 'run-end')).toHaveLength(1);
      }),
    );
  });
});

describe('continuations', () => {
  it('only extends the message, at every cut', () => {
    fc.assert(
      fc.property(arbitraryContinuation(), ({ paused, continued }) => {
        const first = cutAt(paused, paused.events.length);
        expect(violations(first)).toEqual([]);
        eachCut(continued, (sealed) => {
          expect(violations(sealed)).toEqual([]);
          const message = foldEvents(sealed)!;
          expect(message).toEqual(slowFold(sealed));
          expect(refold(message)).toEqual(message);
          const before = foldEvents(first)!;
          const readParts = ({ content }: CanonicalMessage): unknown[] =>
            content.parts.slice(0, before.content.parts.length).map((part) => [part.type, 'text' in part && part.text]);
          expect(readParts(message)).toEqual(readParts(before));
        });
      }),
      everyCutRuns,
    );
  });

  it('folds to the same content with and without the stored message', () => {
    fc.assert(
      fc.property(arbitraryContinuation(), ({ paused, continued }) => {
        const stored = foldEvents(cutAt(paused, paused.events.length))!;
        const sealed = cutAt(continued, continued.events.length);
        const alone = foldEvents(sealed)!;
        const onTop = foldEvents(sealed, { messages: [stored] })!;
        expect(onTop.content).toEqual(alone.content);
      }),
    );
  });
});

describe('broken streams', () => {
  it('seals any input into a stream without violations', () => {
    fc.assert(
      fc.property(
        arbitraryContinuation(),
        fc.array(fc.tuple(fc.nat(3), fc.nat(), fc.nat()), { maxLength: 12 }),
        ({ paused, continued }, edits) => {
          for (const { run, events, end } of [paused, continued]) {
            const broken = [...events];
            for (const [how, a, b] of edits) {
              if (broken.length === 0) break;
              const from = a % broken.length;
              const to = b % broken.length;
              if (how === 0) broken.splice(from, 1);
              else if (how === 1) broken.splice(to, 0, broken[from]!);
              else if (how === 2) [broken[from], broken[to]] = [broken[to]!, broken[from]!];
              else broken.splice(to, 0, { type: 'newer-than-us', value: from } as never);
            }
            const sealed = transcode(
              seal(run, () => undefined),
              broken,
              end,
            );
            expect(violations(sealed)).toEqual([]);
            expect(foldEvents(sealed)).toEqual(slowFold(sealed));
          }
        },
      ),
    );
  });
});

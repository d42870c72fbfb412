import { foldEvents, seal, transcode, type AgentEvent, type End, type Json, type RunInput } from '@intertie/core';
import fc from 'fast-check';

import { generateEvent, generatorNames } from './event-generators.ts';
import { RunBuilder } from './run-builder.ts';

/** A run as a source produces it: the input, the events of the decoder, and how the source ended. */
export type ArbitraryRun = { run: RunInput; events: AgentEvent[]; end: End };

/**
 * Random runs that follow the grammar: interleaved agents, steps and parts, tool calls in every state, questions, state and
 * data patches, and every way to end. `seal` must produce a valid run from any prefix of `events`.
 */
export function arbitraryRun(): fc.Arbitrary<ArbitraryRun> {
  return fc
    .record({
      choices: choiceList(),
      end: arbitraryEnd(),
      state: fc.option(fc.constant<Json>({ list: [] }), { nil: undefined }),
    })
    .map(({ choices, end, state }) => {
      const run = runInput('run-1', { ...(state !== undefined && { state }) });
      return { run, events: generateEvents(run, choices), end };
    });
}

/** A run that pauses, and the run that continues its message. */
export function arbitraryContinuation(): fc.Arbitrary<{ paused: ArbitraryRun; continued: ArbitraryRun }> {
  return fc.record({ first: choiceList(), second: choiceList(), end: arbitraryEnd() }).map(({ first, second, end }) => {
    const run = runInput('run-1');
    const events = generateEvents(run, [...first.filter((choice) => choice[0] !== 'run-end'), ['pause', 0, '']]);
    const paused = { run, events, end: { reason: 'eof' } as End };
    const message = foldEvents(
      transcode(
        seal(run, () => undefined),
        events,
        paused.end,
      ),
    )!;
    const next = runInput('run-2', { resumes: 'run-1', message: message.content });
    return { paused, continued: { run: next, events: generateEvents(next, second), end } };
  });
}

function runInput(runId: string, more: Partial<RunInput> = {}): RunInput {
  return {
    runId,
    threadId: 'thread-1',
    messageId: 'message-1',
    parentMessageId: 'message-0',
    startedAt: 1_700_000_000_000,
    history: [],
    answers: [],
    tools: [],
    context: [],
    ...more,
  };
}

export function arbitraryEnd(): fc.Arbitrary<End> {
  return fc.oneof(
    fc.constant<End>({ reason: 'eof' }),
    fc.constant<End>({ reason: 'aborted', by: 'user' }),
    fc.constant<End>({ reason: 'aborted', by: 'system', message: 'shutdown' }),
    fc.constant<End>({ reason: 'error', error: { message: 'The socket closed.', code: 'socket' } }),
  );
}

type Choice = [generator: string, pick: number, text: string];

function choiceList(): fc.Arbitrary<Choice[]> {
  const text = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('\u0000', '\ud800', 'é🙂', ''));
  const generator = fc.constantFrom(...generatorNames);
  return fc.array(fc.tuple(generator, fc.nat(50), text), { maxLength: 60, size: 'max' });
}

function generateEvents(run: RunInput, choices: readonly Choice[]): AgentEvent[] {
  const builder = new RunBuilder(run);
  for (const [generator, pick, text] of choices) {
    if (generator === 'pause' && pick > 2) continue;
    generateEvent(builder, generator, pick, text);
    if (builder.ended) break;
  }
  return builder.events;
}

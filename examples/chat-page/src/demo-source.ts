import { applyAnswer, seal, sourceStream, type AgentEvent, type AgentSource, type RunInput } from '@intertie/core';
import { continueInvestigation, investigate, makeSmallTalk, type Line } from './script.ts';

/**
 * A source without a model: plays a script at the pace of a model. `speed` 2 is twice as fast.
 *
 * A source is a function from a run to a stream of events. `sourceStream` handles reading, stopping and timestamps, and `seal`
 * adds the beginning and the end of the run.
 */
export function demoSource({ speed = 1 }: { speed?: number } = {}): AgentSource {
  return {
    name: 'demo',
    pauses: 'replay',
    run: (run, { signal }) =>
      sourceStream(
        (readerSignal) => play(chooseScript(run), speed, readerSignal),
        seal(run, () => undefined),
        { signal },
      ),
  };
}

function chooseScript(run: RunInput): Iterable<Line> {
  if (run.message) return continueInvestigation(run, run.answers.reduce(applyAnswer, run.message));
  const texts = run.history.at(-1)?.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = texts?.join(' ') ?? '';
  return /build|slow|time|cache/i.test(text) ? investigate(run) : makeSmallTalk(run, text);
}

/** A number in a script is a pause in milliseconds. */
async function* play(script: Iterable<Line>, speed: number, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  for (const line of script) {
    if (typeof line !== 'number') yield line;
    else await pause(line / speed, signal);
    if (signal.aborted) return;
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

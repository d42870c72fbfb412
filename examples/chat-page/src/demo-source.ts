import { applyAnswer, seal, sourceStream, type AgentEvent, type AgentSource, type RunInput } from '@intertie/core';
import { goesOn, investigates, smallTalk, type Line } from './story.ts';

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
        (left) => play(storyOf(run), speed, left),
        seal(run, () => undefined),
        { signal },
      ),
  };
}

function storyOf(run: RunInput): Iterable<Line> {
  if (run.message) return goesOn(run, run.answers.reduce(applyAnswer, run.message));
  const asked = run.history.at(-1)?.content.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = asked?.join(' ') ?? '';
  return /build|slow|time|cache/i.test(text) ? investigates(run) : smallTalk(run, text);
}

/** A number in a script is a pause in milliseconds. */
async function* play(story: Iterable<Line>, speed: number, left: AbortSignal): AsyncGenerator<AgentEvent> {
  for (const line of story) {
    if (typeof line !== 'number') yield line;
    else await pause(line / speed, left);
    if (left.aborted) return;
  }
}

function pause(milliseconds: number, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    left.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

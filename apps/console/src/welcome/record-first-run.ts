import { CANONICAL, recordTape, seal, sourceStream, type AgentEvent, type RunInput, type Tape } from '@intertie/core';
import { story, type Line } from './first-run-story.ts';

const run: RunInput = {
  runId: 'first-run',
  threadId: 'first-thread',
  messageId: 'first-answer',
  startedAt: Date.UTC(2026, 0, 1),
  history: [],
  answers: [],
  tools: [],
  context: [],
};

/**
 * Runs the story of the first screen as any source is run, and records it. The clock goes on only where the story waits, so
 * that the same story is the same tape.
 */
export async function recordFirstRun(): Promise<Tape> {
  let time = run.startedAt;
  const now = (): number => time;
  async function* play(lines: Iterable<Line>): AsyncGenerator<AgentEvent> {
    for (const line of lines) {
      if (typeof line === 'number') time += line;
      else yield line;
    }
  }
  const source = sourceStream(
    play(story(run.runId)),
    seal(run, () => undefined),
    { now },
  );
  const header = { title: 'What is this?', prompt: 'What happens between an agent and a chat window?' };
  const { stream, tape } = recordTape(source, { dialect: CANONICAL, now, header });
  await stream.pipeTo(new WritableStream());
  return tape;
}

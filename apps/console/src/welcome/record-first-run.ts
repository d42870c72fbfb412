import { recordTape, seal, sourceStream, type AgentEvent, type RunInput, type Tape } from '@intertie/core';
import { CANONICAL } from '@intertie/core/internal';
import { createFirstRunScript, type ScriptItem } from './first-run-script.ts';

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
 * Runs the script of the welcome screen as a source and records it. The clock advances only by the script's pauses, so the
 * recording is deterministic.
 */
export async function recordFirstRun(): Promise<Tape> {
  let time = run.startedAt;
  const now = (): number => time;
  async function* play(items: Iterable<ScriptItem>): AsyncGenerator<AgentEvent> {
    for (const item of items) {
      if (typeof item === 'number') time += item;
      else yield item;
    }
  }
  const source = sourceStream(
    play(createFirstRunScript(run.runId)),
    seal(run, () => undefined),
    { now },
  );
  const header = { title: 'What is this?', prompt: 'What happens between an agent and a chat window?' };
  const { stream, tape } = recordTape(source, { dialect: CANONICAL, now, header });
  await stream.pipeTo(new WritableStream());
  return tape;
}

import { seal, sourceStream, type AgentEvent, type AgentSource, type Loss, type RunInput } from '@intertie/core';

/** What a run says: its events without the frame, which `seal` writes. A promise among them is waited for. */
export type Script = (run: RunInput) => Iterable<AgentEvent | Promise<unknown>>;

export interface ScriptedSource extends AgentSource {
  /** What it was asked for. */
  readonly runs: RunInput[];
  readonly signals: AbortSignal[];
  readonly losses: Loss[];
}

/** A source that says what it is told to, one script per run; the last one again and again. */
export function scriptedSource(...scripts: Script[]): ScriptedSource {
  const runs: RunInput[] = [];
  const signals: AbortSignal[] = [];
  const losses: Loss[] = [];
  return {
    name: 'scripted',
    pauses: 'replay',
    runs,
    signals,
    losses,
    run(run, { signal }) {
      const script = scripts[Math.min(runs.length, scripts.length - 1)] as Script;
      runs.push(run);
      signals.push(signal);
      const play = async function* (): AsyncGenerator<AgentEvent> {
        for (const item of script(run)) {
          if (item instanceof Promise) await item;
          else yield item;
        }
      };
      return sourceStream(
        play(),
        seal(run, (loss) => void losses.push(loss)),
        { signal },
      );
    },
  };
}

/** A text, whole or in pieces. */
export function says(run: RunInput, name: string, ...deltas: string[]): AgentEvent[] {
  const id = `${run.runId}:${name}`;
  return [
    { type: 'text-start', id },
    ...deltas.map((delta): AgentEvent => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ];
}

export const complete: AgentEvent = { type: 'run-end', outcome: 'complete', finishReason: 'stop' };

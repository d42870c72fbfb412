import { seal, sourceStream, type AgentEvent, type AgentSource, type Loss, type RunInput } from '@intertie/core';

/** Events of a run without `run-start`, which `seal` adds. Promises in between are awaited. */
export type Script = (run: RunInput) => Iterable<AgentEvent | Promise<unknown>>;

export interface ScriptedSource extends AgentSource {
  /** Inputs of all runs. */
  readonly runs: RunInput[];
  readonly signals: AbortSignal[];
  readonly losses: Loss[];
}

/** Source that plays one script per run, and repeats the last one. */
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

/** Events of a text part with the given deltas. */
export function textEvents(run: RunInput, name: string, ...deltas: string[]): AgentEvent[] {
  const id = `${run.runId}:${name}`;
  return [
    { type: 'text-start', id },
    ...deltas.map((delta): AgentEvent => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ];
}

export const complete: AgentEvent = { type: 'run-end', outcome: 'complete', finishReason: 'stop' };

import type { End, Json } from '@intertie/core';
import { defined } from '@intertie/core/internal';
import type { Ownership, RunPosition } from '@intertie/core/store';
import type { AgentDefinition } from './agent-definition.ts';

export type TakeoverFacts = {
  /** Agent of the run, if this process has it. */
  agent: Pick<AgentDefinition, 'source'> | undefined;
  position: RunPosition | undefined;
  /** Maximum number of executions of one run. */
  maxAttempts: number;
};

/** Returns how a run that was taken over ends; undefined if this process continues it. */
export function findTakeoverEnd(
  { run, epoch }: Pick<Ownership, 'run' | 'epoch'>,
  { agent, position, maxAttempts }: TakeoverFacts,
): End | undefined {
  if (position?.stop && position.epoch === epoch) return toStopEnd(position);
  if (!agent) {
    return toLostEnd('agent-gone', `No running process has the agent "${run.agent}". Start one that has it.`);
  }
  if (!agent.source.resume) {
    const why = `The process that executed the run is gone, and agent "${run.agent}" cannot continue a run in another process.`;
    // For the log of the operator: clients get no `data`.
    const data = { hint: "A run of a model continues if its agent has recover: 'step'." };
    return toLostEnd('lost', `${why} The output so far is kept. Send the message again.`, data);
  }
  if ((run.attempts ?? 1) > maxAttempts) {
    const why = `The run was executed ${maxAttempts} times, and each time its process died.`;
    return toLostEnd('too-many-attempts', `${why} Look for the cause in the logs of those processes.`);
  }
  return undefined;
}

/** Returns the end of a run that was asked to stop. */
export function toStopEnd({ stopReason }: Pick<RunPosition, 'stopReason'>): End {
  return { reason: 'aborted', by: 'user', ...(stopReason !== undefined && { message: stopReason }) };
}

function toLostEnd(code: string, message: string, data?: Json): End {
  return { reason: 'error', error: { message, code, ...defined({ data }) } };
}

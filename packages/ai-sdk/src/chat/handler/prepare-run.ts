import type { RunInput } from '@intertie/core';

/** What a door lets its user add to a run that a chat asks for. The ids and the history are the chat's. */
export type PreparedRun = Partial<Pick<RunInput, 'tools' | 'context' | 'state' | 'forwardedProps' | 'sourceState'>>;

/** Is called before every run. What it throws is what the chat gets. */
export type PrepareRun<Context> = (
  run: RunInput,
  context: Context,
) => PreparedRun | undefined | Promise<PreparedRun | undefined>;

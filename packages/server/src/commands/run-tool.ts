import type { Command as Program } from 'commander';
import { OutputClosed, type ToolExit } from '../cli/tool-error.ts';
import { nodeIO, type ToolIO } from '../cli/tool-io.ts';
import { exitWith } from './program.ts';

const interrupted = 130;
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Runs a tool in this process. Ctrl-C aborts it, and a closed output pipe (`| head`) ends it without an error. */
export async function runTool(
  command: Program,
  tool: (io: ToolIO) => Promise<ToolExit>,
  /** Whether Ctrl-C aborts the tool. Otherwise the tool listens itself. */
  { takesInterrupts = true }: { takesInterrupts?: boolean } = {},
): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => {
    // A second signal exits immediately.
    if (stop.signal.aborted) process.exit(interrupted);
    stop.abort();
  };
  if (takesInterrupts) for (const name of signals) process.on(name, onSignal);
  try {
    exitWith(command, await tool(nodeIO(stop.signal)));
  } catch (error) {
    if (error instanceof OutputClosed) return;
    if (stop.signal.aborted) process.exit(interrupted);
    throw error;
  } finally {
    for (const name of signals) process.off(name, onSignal);
  }
}

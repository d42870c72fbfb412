import type { Command as Program } from 'commander';
import { OutputClosed, type ToolExit } from '../tools/tool-error.ts';
import { nodeIO, type ToolIO } from '../tools/tool-io.ts';
import { exitWith } from './program.ts';

const interrupted = 130;

/** Runs a tool in this process: Ctrl-C stops it, and a reader that leaves ends it without a word. */
export async function runTool(
  command: Program,
  tool: (io: ToolIO) => Promise<ToolExit>,
  /** Whether Ctrl-C ends the tool. Otherwise the tool listens itself. */
  { takesInterrupts = true }: { takesInterrupts?: boolean } = {},
): Promise<void> {
  const stop = new AbortController();
  const onSignal = (): void => {
    // A second one need not be polite.
    if (stop.signal.aborted) process.exit(interrupted);
    stop.abort();
  };
  if (takesInterrupts) process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    exitWith(command, await tool(nodeIO(stop.signal)));
  } catch (error) {
    if (error instanceof OutputClosed) return;
    if (stop.signal.aborted) process.exit(interrupted);
    throw error;
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

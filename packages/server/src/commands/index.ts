import type { Command } from './command.ts';
import { serveCommand } from './serve.ts';

/** Every command, in the order in which the help lists them. */
export const commands: readonly Command[] = [serveCommand];

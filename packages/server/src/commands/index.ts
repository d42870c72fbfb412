import { checkCommand } from './check.ts';
import type { Command } from './command.ts';
import { convertCommand } from './convert.ts';
import { recordCommand } from './record.ts';
import { replayCommand } from './replay.ts';

/** Every command, in the order in which the help lists them. */
export const commands: readonly Command[] = [convertCommand, checkCommand, recordCommand, replayCommand];

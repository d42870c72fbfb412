import { chatCommand } from './chat.ts';
import { checkCommand } from './check.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { convertCommand } from './convert.ts';
import { doctorCommand } from './doctor.ts';
import { initCommand } from './init.ts';
import { migrateCommand } from './migrate.ts';
import { recordCommand } from './record.ts';
import { replayCommand } from './replay.ts';
import { serveCommand } from './serve.ts';
import { threadsCommand } from './threads.ts';

/** Every command, in the order in which the help lists them. */
export const commands: readonly Command[] = [
  serveCommand,
  initCommand,
  doctorCommand,
  migrateCommand,
  convertCommand,
  checkCommand,
  recordCommand,
  replayCommand,
  chatCommand,
  threadsCommand,
  completionCommand,
];

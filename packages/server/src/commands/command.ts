import type { Command as Program } from 'commander';
import type { Terminal } from '../cli/terminal.ts';

/** Adds one command to the program. Errors of its `action` become a message and an exit code. */
export type Command = (program: Program, terminal: Terminal) => void;

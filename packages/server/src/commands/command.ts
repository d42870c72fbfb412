import type { Command as Program } from 'commander';
import type { Terminal } from '../cli/terminal.ts';

/** Adds one command to the program. It does its work in `action`; what it throws becomes a message and an exit code. */
export type Command = (program: Program, terminal: Terminal) => void;

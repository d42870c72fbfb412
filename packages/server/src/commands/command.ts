import type { Command as Program } from 'commander';
import type { Protocol } from '@intertie/core';
import type { Terminal } from '../cli/terminal.ts';

/** Adds one command to the program. `protocols` is empty if the arguments name a command that needs none. Errors of its `action` become a message and an exit code. */
export type Command = (program: Program, terminal: Terminal, protocols: readonly Protocol[]) => void;

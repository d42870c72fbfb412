import type { AgentKind, Protocol } from '@intertie/core';
import type { Command as Program } from 'commander';
import type { Terminal } from '../cli/terminal.ts';

/** Protocols and kinds of agents that the commands offer. */
export type Known = { protocols: readonly Protocol[]; agentKinds: readonly AgentKind[] };

/** Adds one command to the program. The lists are empty if the arguments name a command that needs none. Errors of its `action` become a message and an exit code. */
export type Command = (program: Program, terminal: Terminal, known: Known) => void;

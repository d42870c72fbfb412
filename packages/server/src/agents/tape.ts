import { readFileSync } from 'node:fs';
import { parseTape, tapeSource, type Tape } from '@intertie/core';
import type { TapeSourceOptions } from '@intertie/core/internal';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

export type TapeAgentOptions = AgentDetails & Omit<TapeSourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that plays a recorded run, whatever the user sends. Takes a file name, a URL or the tape. */
export function tape(recorded: string | URL | Tape<unknown>, options: TapeAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  const read = typeof recorded === 'string' || recorded instanceof URL ? readTapeFile(recorded) : recorded;
  return {
    ...details,
    kind: 'tape',
    dialect: read.header.dialect,
    createSource: (name, onFrame) => tapeSource(read, { ...settings, name, ...(onFrame && { onFrame }) }),
  };
}

function readTapeFile(file: string | URL): Tape<unknown> {
  return parseTape(readFileSync(file, 'utf8'));
}

import { readFileSync } from 'node:fs';
import {
  parseTape,
  tapeSource,
  type AgentDefinition,
  type AgentDetails,
  type AgentKind,
  type Tape,
} from '@intertie/core';
import { splitDetails, type TapeSourceOptions } from '@intertie/core/internal';

export type TapeAgentOptions = AgentDetails & Omit<TapeSourceOptions, 'name' | 'onFrame'>;

type RecordedTape = string | URL | Tape<unknown>;

/** Defines an agent that plays a recorded run, whatever the user sends. Takes a file name, a URL or the tape. */
export function tape(recorded: RecordedTape, options: TapeAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  const read = typeof recorded === 'string' || recorded instanceof URL ? readTapeFile(recorded) : recorded;
  return {
    ...details,
    kind: tapeKind.name,
    dialect: read.header.dialect,
    createSource: (name, onFrame) => tapeSource(read, { ...settings, name, ...(onFrame && { onFrame }) }),
  };
}

function readTapeFile(file: string | URL): Tape<unknown> {
  return parseTape(readFileSync(file, 'utf8'));
}

/** Recorded runs as agents. */
export const tapeKind: AgentKind<[RecordedTape, TapeAgentOptions?]> = {
  name: 'tape',
  title: 'tape',
  description: 'A recorded agent',
  functionName: 'tape',
  define: tape,
};

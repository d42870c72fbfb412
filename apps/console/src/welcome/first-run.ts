import { parseTape, type AgentEvent, type Tape } from '@intertie/core';
import text from './first-run.tape.jsonl?raw';

/** The run that the console opens on. */
export const firstRun = parseTape(text) as unknown as Tape<AgentEvent>;

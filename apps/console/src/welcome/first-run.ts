import { parseTape, type AgentEvent, type Tape } from '@intertie/core';
import text from './first-run.tape.jsonl?raw';

/** Recorded run of the welcome screen. */
export const firstRun = parseTape(text) as unknown as Tape<AgentEvent>;

import { Agent } from '@intertie/agent';
import { openHarnessSource } from '@intertie/open-harness';
import { demoRuntime } from '@intertie/open-harness/demo';

/** One agent for the whole process. With a store of @intertie/postgres any instance of the app can serve any chat. */
export const agent: Agent = new Agent({ source: openHarnessSource(demoRuntime) });

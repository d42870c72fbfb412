import { Agent } from '@intertie/agent';
import { openHarnessSource } from '@intertie/open-harness';
import { demoRuntime } from '@intertie/open-harness/demo';

/** One for the whole process. Give it a store of @intertie/postgres, and any instance of the app serves any chat. */
export const agent: Agent = new Agent({ source: openHarnessSource(demoRuntime) });

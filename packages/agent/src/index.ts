export type { DurableAgent } from '@intertie/core';

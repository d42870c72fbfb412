export type { AgentEvent } from '@intertie/core';

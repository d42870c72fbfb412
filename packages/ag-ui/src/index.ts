export type { AgentSource } from '@intertie/core';

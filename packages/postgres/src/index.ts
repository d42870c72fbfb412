export type { Store } from '@intertie/core';

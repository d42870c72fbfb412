import type { Json } from '../json/json.ts';

/** An error as plain data: it survives JSON, the database and every protocol. */
export type Fault = { message: string; code?: string; retryable?: boolean; data?: Json };

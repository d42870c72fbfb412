import type { Json } from '../json/json.ts';

/** Error as plain data, for JSON, the database and every protocol. */
export type Fault = { message: string; code?: string; retryable?: boolean; data?: Json };

/** HTTP helpers for the handlers and clients of all protocols: `@intertie/core/http`. */

// Request bodies
export {
  checkMessageCounts,
  checkRequestId,
  defaultRequestLimits,
  readJsonBody,
  RequestBodyError,
} from './http/request-body.ts';
export type { ReadJsonOptions, RequestBodyErrorCode, RequestLimits } from './http/request-body.ts';

// Run headers
export { readRunHeaders, toRunHeaders } from './http/run-headers.ts';

// Faults for clients
export {
  publicFaults,
  toPublicEvent,
  toPublicFault,
  toPublicMessage,
  toPublicOutcome,
  withPublicFaults,
} from './http/public-fault.ts';
export type { FaultView } from './http/public-fault.ts';

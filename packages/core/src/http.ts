/** How the handlers and clients of all protocols use HTTP: `@intertie/core/http`. */
export {
  publicFaults,
  toPublicEvent,
  toPublicFault,
  toPublicMessage,
  toPublicOutcome,
  withPublicFaults,
} from './http/public-fault.ts';
export type { FaultView } from './http/public-fault.ts';
export {
  checkMessageCounts,
  checkRequestId,
  defaultRequestLimits,
  readJsonBody,
  RequestBodyError,
} from './http/request-body.ts';
export type { ReadJsonOptions, RequestBodyErrorCode, RequestLimits } from './http/request-body.ts';
export { readRunHeaders, toRunHeaders } from './http/run-headers.ts';

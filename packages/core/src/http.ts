/** How the handlers and clients of all protocols use HTTP: `@intertie/core/http`. */
export {
  publicFaults,
  toPublicEvent,
  toPublicFault,
  toPublicMessage,
  toPublicOutcome,
  withPublicFaults,
} from './public-fault.ts';
export type { FaultView } from './public-fault.ts';
export {
  checkMessageCounts,
  checkRequestId,
  defaultRequestLimits,
  readJsonBody,
  RequestBodyError,
} from './request-body.ts';
export type { ReadJsonOptions, RequestBodyErrorCode, RequestLimits } from './request-body.ts';
export { readRunHeaders, toRunHeaders } from './run-headers.ts';

/** The OpenAI API for agents, and servers of the Responses API as sources: `@intertie/openai`. */

export { openai } from './openai-protocol.ts';
export { createResponsesEncoder } from './encode/encode-responses.ts';
export type { ResponsesEncoder, ResponsesEncoderOptions } from './encode/encode-responses.ts';
export { createResponsesDecoder } from './decode/decode-responses.ts';
export type { ResponsesDecoderOptions } from './decode/decode-responses.ts';
export type { Flavour, OutputItem, ResponseEvent, ResponseObject } from './shared/response-event.ts';
export type { ResponseIdentity } from './shared/response-object.ts';
export { openaiSource } from './source/openai-source.ts';
export type { OpenAISourceOptions } from './source/openai-source.ts';
export { createOpenAIHandler } from './server/create-openai-handler.ts';
export type { OpenAIHandlerOptions } from './server/create-openai-handler.ts';
export { openaiResponses, openaiResponsesKind } from './openai-kind.ts';
export type { OpenAIResponsesOptions } from './openai-kind.ts';

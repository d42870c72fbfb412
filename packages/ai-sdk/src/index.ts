export { createFullStreamDecoder } from './decode-full-stream.ts';
export type { FullStreamDecoderOptions } from './decode-full-stream.ts';
export type { ToolExecutors } from './tool-executors.ts';
export { fromUIMessages } from './from-ui-messages.ts';
export type { FromUIMessagesOptions } from './from-ui-messages.ts';
export { toUIMessages } from './to-ui-messages.ts';
export type { ToUIMessagesOptions } from './to-ui-messages.ts';
export type { IncludeInternal } from './include-internal.ts';
export { createUIMessageDecoder } from './decode-ui-message-stream.ts';
export type { UIMessageDecoderOptions } from './decode-ui-message-stream.ts';
export { createUIMessageEncoder } from './encode-ui-message-stream.ts';
export type { UIMessageEncoderOptions } from './ui-message-encoder-options.ts';
export type { ExtensionName } from './ui-extension.ts';
export type { UIMessageChunk, UIMessageChunk6, UIMessageChunkOf, UIMessageVersion } from './ui-message-chunk.ts';
export { isUIMessageChunk, validateUIMessageChunk } from './validate-ui-message-chunk.ts';
export type { ChunkProblem } from './validate-ui-message-chunk.ts';
export { fromModelMessages } from './from-model-messages.ts';
export type { FromModelMessagesOptions } from './from-model-messages.ts';
export { toAiSdkMessages } from './to-ai-sdk-messages.ts';
export type { ToAiSdkMessagesOptions } from './to-ai-sdk-messages.ts';
export { modelSource } from './model-source.ts';
export type { ModelSourceOptions, StreamTextSettings } from './model-source.ts';
export { createLanguageModelV3Encoder } from './encode-language-model-v3.ts';
export type { LanguageModelV3EncoderOptions } from './encode-language-model-v3.ts';
export { generateFromEvents } from './generate-from-events.ts';
export type { UIMessageCheckerOptions } from './ui-message-checker.ts';
export { uiMessageRules } from './ui-message-rules.ts';
export type { UIMessageRule } from './ui-message-rules.ts';
export { createUIMessageSSEStream, readUIMessageSSE, writeUIMessageSSE } from './ui-message-sse-stream.ts';
export type { ReadUIMessageSSEOptions, WriteUIMessageSSEOptions } from './ui-message-sse-stream.ts';
export {
  createUIMessageSSEParser,
  doneFrame,
  keepAliveFrame,
  toUIMessageFrame,
  UIMessageSSEError,
  uiMessageStreamHeaders,
} from './ui-message-sse.ts';
export type { UIMessageSSEParser, UIMessageSSEParserOptions } from './ui-message-sse.ts';
export { createUIMessageStreamDialect, uiMessageStream } from './ui-message-stream.ts';
export {
  createMessageListState,
  endMessageListState,
  flushToCanonical,
  updateFromStreamPart,
} from './message-list-state.ts';
export type { MessageListState, MessageListStateOptions } from './message-list-state.ts';
export { modelMessages } from './model-messages.ts';
export type { ChatRequest } from './chat-request.ts';
export { ChatRequestError } from './chat-request.ts';
export type { ChatEncoderOptions } from './chat-run.ts';
export { createChatHandler } from './create-chat-handler.ts';
export type { DurableChatHandlerOptions, PreparedRequest } from './durable-chat.ts';
export type { ChatHandlerOptions } from './source-chat.ts';
export { IntertieChatTransport } from './intertie-chat-transport.ts';
export type { IntertieChatTransportOptions, Resolvable } from './intertie-chat-transport.ts';
export type { PreparedRun, PrepareRun } from './prepare-run.ts';
export { SourceChatTransport } from './source-chat-transport.ts';
export type { ReconnectOptions, SendMessagesOptions, SourceChatTransportOptions } from './source-chat-transport.ts';

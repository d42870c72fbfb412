export { createFullStreamDecoder } from './full-stream/decode-full-stream.ts';
export type { FullStreamDecoderOptions } from './full-stream/decode-full-stream.ts';
export type { ToolExecutors } from './full-stream/tool-executors.ts';
export { fromUIMessages } from './messages/from-ui-messages.ts';
export type { FromUIMessagesOptions } from './messages/from-ui-messages.ts';
export { toUIMessages } from './messages/to-ui-messages.ts';
export type { ToUIMessagesOptions } from './messages/to-ui-messages.ts';
export type { IncludeInternal } from './shared/include-internal.ts';
export { createUIMessageDecoder } from './ui-message-stream/decode/decode-ui-message-stream.ts';
export type { UIMessageDecoderOptions } from './ui-message-stream/decode/decode-ui-message-stream.ts';
export { createUIMessageEncoder } from './ui-message-stream/encode/encode-ui-message-stream.ts';
export type { UIMessageEncoderOptions } from './ui-message-stream/encode/ui-message-encoder-options.ts';
export type { ExtensionName } from './ui-message-stream/chunk/ui-extension.ts';
export type {
  UIMessageChunk,
  UIMessageChunk6,
  UIMessageChunkOf,
  UIMessageVersion,
} from './ui-message-stream/chunk/ui-message-chunk.ts';
export { isUIMessageChunk, validateUIMessageChunk } from './ui-message-stream/chunk/validate-ui-message-chunk.ts';
export type { ChunkProblem } from './ui-message-stream/chunk/validate-ui-message-chunk.ts';
export { fromModelMessages } from './messages/from-model-messages.ts';
export type { FromModelMessagesOptions } from './messages/from-model-messages.ts';
export { toAiSdkMessages } from './messages/to-ai-sdk-messages.ts';
export type { ToAiSdkMessagesOptions } from './messages/to-ai-sdk-messages.ts';
export { modelSource } from './source/model-source.ts';
export type { ModelSourceOptions, StreamTextSettings } from './source/model-source.ts';
export { uiMessageStreamSource } from './source/ui-message-stream-source.ts';
export type { UIMessageStreamSourceOptions } from './source/ui-message-stream-source.ts';
export { createLanguageModelV3Encoder } from './language-model/encode-language-model-v3.ts';
export type { LanguageModelV3EncoderOptions } from './language-model/encode-language-model-v3.ts';
export { generateFromEvents } from './language-model/generate-from-events.ts';
export type { UIMessageCheckerOptions } from './ui-message-stream/check/ui-message-checker.ts';
export { uiMessageRules } from './ui-message-stream/check/ui-message-rules.ts';
export type { UIMessageRule } from './ui-message-stream/check/ui-message-rules.ts';
export {
  createUIMessageSSEStream,
  readUIMessageSSE,
  writeUIMessageSSE,
} from './ui-message-stream/sse/ui-message-sse-stream.ts';
export type {
  ReadUIMessageSSEOptions,
  WriteUIMessageSSEOptions,
} from './ui-message-stream/sse/ui-message-sse-stream.ts';
export {
  createUIMessageSSEParser,
  doneFrame,
  keepAliveFrame,
  toUIMessageFrame,
  UIMessageSSEError,
  uiMessageStreamHeaders,
} from './ui-message-stream/sse/ui-message-sse.ts';
export type { UIMessageSSEParser, UIMessageSSEParserOptions } from './ui-message-stream/sse/ui-message-sse.ts';
export { uiMessageStreamFormat } from './ui-message-stream-format.ts';
export { createUIMessageStreamProtocol, uiMessageStream } from './ui-message-stream-protocol.ts';
export { fullStream } from './full-stream/full-stream-protocol.ts';
export {
  createMessageListState,
  endMessageListState,
  flushToCanonical,
  updateFromStreamPart,
} from './full-stream/message-list-state.ts';
export type { MessageListState, MessageListStateOptions } from './full-stream/message-list-state.ts';
export { modelMessages } from './messages/model-messages.ts';
export type { ChatRequest } from './chat/handler/chat-request.ts';
export { ChatRequestError } from './chat/handler/chat-request.ts';
export type { ChatEncoderOptions } from './chat/handler/run-chat.ts';
export { createChatHandler } from './chat/handler/create-chat-handler.ts';
export type { DurableChatHandlerOptions, PreparedRequest } from './chat/handler/durable-chat.ts';
export type { ChatHandlerOptions } from './chat/handler/source-chat.ts';
export { IntertieChatTransport } from './chat/transport/intertie-chat-transport.ts';
export type { IntertieChatTransportOptions, Resolvable } from './chat/transport/intertie-chat-transport.ts';
export type { PreparedRun, PrepareRun } from './chat/handler/to-run-input.ts';
export { SourceChatTransport } from './chat/transport/source-chat-transport.ts';
export type {
  ReconnectOptions,
  SendMessagesOptions,
  SourceChatTransportOptions,
} from './chat/transport/source-chat-transport.ts';
export { chatRoute, chatRouteKind } from './chat-route-kind.ts';
export type { ChatRouteAgentOptions } from './chat-route-kind.ts';
export { modelAgent, modelKind } from './model-kind.ts';
export type { ModelAgentOptions } from './model-kind.ts';

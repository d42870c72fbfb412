export type {
  A2AArtifact,
  A2AArtifactUpdate,
  A2AMessage,
  A2APart,
  A2AStatusUpdate,
  A2AStreamItem,
  A2ATask,
  A2ATaskState,
  A2ATaskStatus,
} from './shared/a2a-types.ts';
export { eventsExtension } from './shared/extension.ts';
export { createA2AEncoder } from './encode/encode-a2a.ts';
export type { A2AEncoderOptions, A2AOpenState } from './encode/encode-a2a.ts';
export { createA2ADecoder } from './decode/decode-a2a.ts';
export type { A2ADecoderOptions } from './decode/decode-a2a.ts';
export { createA2AHandler } from './server/create-a2a-handler.ts';
export type { A2AHandlerOptions } from './server/a2a-handler-options.ts';
export { a2aSource } from './client/a2a-source.ts';
export type { A2ASourceOptions } from './client/a2a-source.ts';
export type { A2AConnectionOptions } from './client/a2a-connection.ts';
export { a2aRules } from './check/a2a-rules.ts';
export type { A2ARule } from './check/a2a-rules.ts';
export { a2aProtocol } from './a2a-protocol.ts';
export { a2aAgent, a2aKind } from './a2a-kind.ts';
export type { A2AAgentOptions } from './a2a-kind.ts';

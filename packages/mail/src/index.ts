export { createMAILDecoder } from './decode/decode-mail.ts';
export type { MAILDecoderOptions } from './decode/decode-mail.ts';
export { createMAILEncoder } from './encode/encode-mail.ts';
export type {
  MAILAddress,
  MAILEvent,
  MAILFrame,
  MAILMessage,
  MAILToolCall,
  UnknownMAILEvent,
} from './shared/mail-event.ts';
export { createMAIL, mail } from './model/mail-provider.ts';
export type { MAILObjectSettings, MAILProvider } from './model/mail-provider.ts';
export { MAILLanguageModel } from './model/mail-language-model.ts';
export type {
  MAILHeaders,
  MAILModelSettings,
  MAILProviderSettings,
  MAILResumeFrom,
  MAILToolCalls,
} from './shared/mail-settings.ts';
export type { MAILResponseBody } from './client/response-body.ts';
export type { MAILResumeToken } from './shared/resume-token.ts';
export { mailMetadata } from './shared/mail-metadata.ts';
export type { MAILProviderMetadata, MAILTaskStatus, MAILTraceEntry } from './shared/mail-metadata.ts';
export { mailEvents } from './model/mail-events.ts';
export type { MAILAgentEvent, MAILPlainEvent } from './shared/agent-event.ts';
export { createMAILStreamTransformer } from './model/mail-stream-transformer.ts';
export type { MAILStreamTransformerOptions } from './model/mail-stream-transformer.ts';
export { convertToMAILMessage } from './model/convert-to-mail-message.ts';
export type { ConvertToMAILMessageOptions, MAILMessageInput } from './model/convert-to-mail-message.ts';
export type { MAILToolResult } from './client/mail-request.ts';
export { toSwarmActions } from './model/to-swarm-actions.ts';
export type { SwarmActions } from './model/to-swarm-actions.ts';
export type { MAILCheck } from './client/check-server.ts';
export type { MAILAgentInfo } from './client/mail-server.ts';
export { mailSource } from './source/mail-source.ts';
export type { MAILSourceSettings } from './source/mail-source.ts';
export { mailProtocol } from './mail-protocol.ts';
export { mailRules } from './decode/mail-rules.ts';
export { mailKind, mailSwarm } from './mail-kind.ts';
export type { MAILAgentOptions } from './mail-kind.ts';

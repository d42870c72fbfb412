export { createMAILDecoder } from './decode-mail.ts';
export type { MAILDecoderOptions } from './decode-mail.ts';
export type { MAILAddress, MAILEvent, MAILFrame, MAILMessage, MAILToolCall, UnknownMAILEvent } from './mail-event.ts';
export { createMAIL, mail } from './mail-provider.ts';
export type { MAILObjectSettings, MAILProvider } from './mail-provider.ts';
export { MAILLanguageModel } from './mail-language-model.ts';
export type {
  MAILHeaders,
  MAILModelSettings,
  MAILProviderSettings,
  MAILResumeFrom,
  MAILToolCalls,
} from './mail-settings.ts';
export type { MAILResponseBody } from './response-body.ts';
export type { MAILResumeToken } from './resume-token.ts';
export { mailMetadata } from './mail-metadata.ts';
export type { MAILProviderMetadata, MAILTaskStatus, MAILTraceEntry } from './mail-metadata.ts';
export { mailEvents } from './mail-events.ts';
export type { MAILAgentEvent, MAILPlainEvent } from './agent-event.ts';
export { createMAILStreamTransformer } from './mail-stream-transformer.ts';
export type { MAILStreamTransformerOptions } from './mail-stream-transformer.ts';
export { convertToMAILMessage } from './convert-to-mail-message.ts';
export type { ConvertToMAILMessageOptions, MAILMessageInput } from './convert-to-mail-message.ts';
export type { MAILToolResult } from './mail-turn.ts';
export { toSwarmActions } from './to-swarm-actions.ts';
export type { SwarmActions } from './to-swarm-actions.ts';
export type { MAILCheck } from './check-server.ts';
export type { MAILAgentInfo } from './mail-server.ts';
export { mailSource } from './mail-source.ts';
export type { MAILSourceSettings } from './mail-source.ts';
export { mailDialect } from './mail-dialect.ts';
export { mailRules } from './mail-rules.ts';

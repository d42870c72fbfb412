export { createFullStreamDecoder } from './decode-full-stream.ts';
export type { FullStreamDecoderOptions } from './decode-full-stream.ts';
export type { ToolExecutors } from './tool-executors.ts';
export { fromUIMessages } from './from-ui-messages.ts';
export type { FromUIMessagesOptions } from './from-ui-messages.ts';
export { toUIMessages } from './to-ui-messages.ts';
export type { ToUIMessagesOptions } from './to-ui-messages.ts';
export type { Chatter } from './chatter.ts';

export { createFullStreamDecoder } from './decode-full-stream.ts';
export type { FullStreamDecoderOptions } from './decode-full-stream.ts';
export type { ToolExecutors } from './tool-executors.ts';

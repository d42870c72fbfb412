export { createMAILDecoder } from './decode-mail.ts';
export type { MAILDecoderOptions } from './decode-mail.ts';

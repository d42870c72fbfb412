export { createSampleNameDecoder } from './decode-sample-name.ts';
export { createSampleNameEncoder } from './encode-sample-name.ts';
export { sampleNameProtocol } from './sample-name-protocol.ts';

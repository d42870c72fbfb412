export { createFlowState, createOpenHarnessDecoder, decodeEvent } from './decode/decode-open-harness.ts';
export {
  createTransformState,
  transformEvent,
  type TransformOptions,
  type TransformState,
} from './encode/transform-event.ts';
export type { NodeOutput, OpenHarnessDecoderOptions } from './decode/decoder-options.ts';
export type { FlowState } from './decode/flow-state.ts';
export type {
  FlowAgentData,
  FlowStatusData,
  NodeOutputData,
  OpenHarnessDataTypes,
  OpenHarnessUIMessage,
} from './decode/data-types.ts';
export {
  isTerminalEvent,
  type OpenHarnessInput,
  type RuntimeEvent,
  type RuntimeSignal,
  type StatePatch,
} from './runtime/runtime-event.ts';
export type {
  FlowLike,
  RunSnapshot,
  RunStoreLike,
  RuntimeCommand,
  RuntimeLike,
  RuntimeStatus,
} from './runtime/runtime.ts';
export {
  openHarnessSource,
  type FlowResume,
  type FlowRequest,
  type OpenHarnessSourceOptions,
  type RuntimeOrFactory,
} from './source/open-harness-source.ts';
export { createFlowChunks, type FlowChunkOptions } from './encode/flow-chunks.ts';
export type { FlowDataOptions } from './decode/flow-filter.ts';
export {
  createOpenHarnessChatTransport,
  OpenHarnessChatTransport,
  type OpenHarnessChatTransportOptions,
} from './chat/open-harness-chat-transport.ts';
export { openHarnessProtocol } from './open-harness-protocol.ts';
export { storedFlow, type StoredFlowOptions } from './source/stored-flow.ts';
export {
  createOpenHarnessServerDecoder,
  type OpenHarnessServerDecoderOptions,
} from './server/decode-open-harness-server.ts';
export { openHarnessServerSource, type OpenHarnessServerSourceOptions } from './server/open-harness-server-source.ts';
export type { ServerEvent } from './server/server-event.ts';
export { openHarness, openHarnessKind, type OpenHarnessAgentOptions } from './open-harness-kind.ts';

export { createFlowState, createOpenHarnessDecoder, decodeEvent } from './decode-open-harness.ts';
export { createTransformState, transformEvent, type TransformOptions, type TransformState } from './transform-event.ts';
export type { NodeOutput, OpenHarnessDecoderOptions } from './decoder-options.ts';
export type { FlowState } from './flow-state.ts';
export type {
  FlowAgentData,
  FlowStatusData,
  NodeOutputData,
  OpenHarnessDataTypes,
  OpenHarnessUIMessage,
} from './data-types.ts';
export {
  isTerminalEvent,
  type OpenHarnessInput,
  type RuntimeEvent,
  type RuntimeSignal,
  type StatePatch,
} from './runtime-event.ts';
export type { FlowLike, RunSnapshot, RunStoreLike, RuntimeCommand, RuntimeLike, RuntimeStatus } from './runtime.ts';
export {
  openHarnessSource,
  type FlowResume,
  type FlowTurn,
  type OpenHarnessSourceOptions,
  type RuntimeOrFactory,
} from './open-harness-source.ts';
export { createFlowChunks, type FlowChunkOptions } from './flow-chunks.ts';
export type { FlowDataOptions } from './flow-filter.ts';
export {
  createOpenHarnessChatTransport,
  OpenHarnessChatTransport,
  type OpenHarnessChatTransportOptions,
} from './open-harness-chat-transport.ts';
export { openHarnessDialect } from './open-harness-dialect.ts';
export { storedFlow, type StoredFlowOptions } from './stored-flow.ts';
export { createOpenHarnessServerDecoder, type OpenHarnessServerDecoderOptions } from './decode-open-harness-server.ts';
export { openHarnessServerSource, type OpenHarnessServerSourceOptions } from './open-harness-server-source.ts';
export type { ServerEvent } from './server-event.ts';

export { demoFlow, demoRuntime } from './demo/demo-flow.ts';
export type { EdgeContext, Flow, FlowEdge, FlowNode, NodeContext } from './demo/flow.ts';
export { createFlowRuntime, FlowRuntime } from './demo/flow-runtime.ts';
export type { FlowRuntimeOptions } from './demo/flow-runtime.ts';

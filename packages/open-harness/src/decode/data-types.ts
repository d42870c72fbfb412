import type { UIMessage } from 'ai';

/** Status of the flow, in the part `data-flow-status`. */
export type FlowStatusData = {
  status: 'running' | 'paused' | 'complete' | 'failed' | 'aborted';
  flowName: string;
};

/** Output of a node, in a part `data-node-output`. `runId` is that of the node's last invocation. */
export type NodeOutputData = { nodeId: string; runId: string; output: unknown };

/** Active node, or agent inside a node, in a part `data-agent` at the start of a step. */
export type FlowAgentData = { agentId: string; name: string; kind: 'node' | 'agent'; parentAgentId?: string };

/** Data parts of a flow's message. */
export type OpenHarnessDataTypes = {
  'flow-status': FlowStatusData;
  'node-output': NodeOutputData;
  agent: FlowAgentData;
};

/** Message of a flow, for `useChat<OpenHarnessUIMessage>`. */
export type OpenHarnessUIMessage = UIMessage<unknown, OpenHarnessDataTypes>;

import type { UIMessage } from 'ai';

/** How the flow stands, in the part `data-flow-status`. */
export type FlowStatusData = {
  status: 'running' | 'paused' | 'complete' | 'failed' | 'aborted';
  flowName: string;
};

/** What a node gave, in a part `data-node-output`. `runId` is that of the node's last invocation. */
export type NodeOutputData = { nodeId: string; runId: string; output: unknown };

/** Who is at work, in a part `data-agent` at the beginning of a step: a node by its name, or an agent inside one. */
export type FlowAgentData = { agentId: string; name: string; kind: 'node' | 'agent'; parentAgentId?: string };

/** The data parts of a flow's message. */
export type OpenHarnessDataTypes = {
  'flow-status': FlowStatusData;
  'node-output': NodeOutputData;
  agent: FlowAgentData;
};

/** A flow's message, for `useChat<OpenHarnessUIMessage>`. */
export type OpenHarnessUIMessage = UIMessage<unknown, OpenHarnessDataTypes>;

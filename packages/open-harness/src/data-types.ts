import type { UIMessage } from 'ai';

/** How the flow stands, in the part `data-flow-status`. */
export type FlowStatusData = {
  status: 'running' | 'paused' | 'complete' | 'failed' | 'aborted';
  flowName: string;
};

/** What a node gave, in a part `data-node-output`. `runId` is that of the node's last invocation. */
export type NodeOutputData = { nodeId: string; runId: string; output: unknown };

/** The data parts of a flow's message. */
export type OpenHarnessDataTypes = { 'flow-status': FlowStatusData; 'node-output': NodeOutputData };

/** A flow's message, for `useChat<OpenHarnessUIMessage>`. */
export type OpenHarnessUIMessage = UIMessage<unknown, OpenHarnessDataTypes>;

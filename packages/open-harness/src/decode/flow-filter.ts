import type { AgentEvent, Codec, OnLoss } from '@intertie/core';

export interface FlowDataOptions {
  /** Sends the status (`data-flow-status`) and the progress of the flow. Default: false. */
  sendFlowMetadata?: boolean;
  /** Sends the outputs of nodes (`data-node-output`). Default: false. */
  sendNodeOutputs?: boolean;
}

/** Data parts with the status and progress of the flow. */
const metadata: ReadonlySet<string> = new Set(['flow-status', 'node', 'edge', 'loop']);

/** Removes flow data that was not requested. Node outputs may be confidential, so they are not sent by default. */
export function createFlowFilter(options: FlowDataOptions & { onLoss?: OnLoss } = {}): Codec<AgentEvent, AgentEvent> {
  const { sendFlowMetadata = false, sendNodeOutputs = false, onLoss = () => undefined } = options;
  const reported = new Set<string>();

  const withhold = (what: string, option: keyof FlowDataOptions): void => {
    if (reported.has(what)) return;
    reported.add(what);
    onLoss({ kind: 'withheld', what, why: `${option} is off.` });
  };

  return {
    feed(event, emit) {
      if (event.type === 'data' && !sendFlowMetadata && metadata.has(event.name)) {
        return withhold(`data-${event.name}`, 'sendFlowMetadata');
      }
      if (event.type === 'metadata' && !sendFlowMetadata && isFlowName(event)) {
        return withhold('flow name', 'sendFlowMetadata');
      }
      if (event.type === 'data' && !sendNodeOutputs && event.name === 'node-output') {
        return withhold('data-node-output', 'sendNodeOutputs');
      }
      if (event.type === 'agent-end' && !sendNodeOutputs && event.result !== undefined) {
        const { result: _, ...rest } = event;
        return emit(rest);
      }
      emit(event);
    },
    end: () => undefined,
  };
}

function isFlowName(event: AgentEvent): boolean {
  return 'metadata' in event && Object.keys(event.metadata).join() === 'flow';
}

import type { AgentEvent, Codec, OnLoss } from '@intertie/core';

export interface FlowDataOptions {
  /** Whether it is told how the flow stands (`data-flow-status`) and where it goes. Default: no. */
  sendFlowMetadata?: boolean;
  /** Whether it is told what nodes gave (`data-node-output`). Default: no. */
  sendNodeOutputs?: boolean;
}

/** How the flow stands, and how it goes: shown and not kept. */
const metadata: ReadonlySet<string> = new Set(['flow-status', 'node', 'edge', 'loop']);

/** Of what a flow says about itself, that which is wanted: what nodes gave each other is nobody's business by default. */
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

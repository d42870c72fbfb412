import type { Fault, RunInput } from '@intertie/core';
import { toJson } from '@intertie/core';
import { defined, isFields, asNonEmptyText, asText } from '@intertie/core/internal';
import type { NodeOutput, OpenHarnessDecoderOptions } from './decoder-options.ts';
import type { FlowAgents } from './flow-agents.ts';
import { formatErrorText } from './format-error-text.ts';
import type { RunContext } from './invocation.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';

type Input<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;

/** Decodes the node events of a flow. The agent events of a node are decoded by `FlowAgents`. */
export class FlowNodes {
  /** Failure of the last ended node, until another node starts. */
  fault: Fault | undefined;
  #flow: RunContext & { readonly run: RunInput };
  #agents: FlowAgents;
  #nodeText: OpenHarnessDecoderOptions['nodeText'];

  constructor(
    flow: RunContext & { readonly run: RunInput },
    agents: FlowAgents,
    nodeText: OpenHarnessDecoderOptions['nodeText'],
  ) {
    this.#flow = flow;
    this.#agents = agents;
    this.#nodeText = nodeText;
  }

  start({ nodeId, runId }: Input<'node:start'>): string | undefined {
    if (asNonEmptyText(nodeId) === undefined) return 'without a nodeId';
    const key = asNonEmptyText(runId) ?? nodeId;
    this.fault = undefined;
    this.#agents.startNode(key, nodeId);
    return undefined;
  }

  complete({ nodeId, runId, output }: Input<'node:complete'>): string | undefined {
    if (asNonEmptyText(nodeId) === undefined) return 'without a nodeId';
    const key = asNonEmptyText(runId) ?? nodeId;
    const node = this.#agents.ensureNode(key, nodeId);
    if (node === undefined) return this.#agents.reportLate('node:complete');
    this.#agents.endChildren(node, { outcome: 'complete' });
    node.failOpenCalls();
    const text = node.hasText ? undefined : this.#getNodeText({ nodeId, runId: key, output });
    if (text !== undefined) node.completeText('text', text);
    node.endStep();
    const result = toJson(output, this.#flow.onLoss);
    this.#flow.emit({
      type: 'data',
      id: `${this.#flow.run.runId}:output:${nodeId}`,
      name: 'node-output',
      data: { nodeId, runId: key, output: result },
      agentId: node.agentId,
    });
    this.#agents.end(key, node, { outcome: 'complete' }, result);
    return undefined;
  }

  fail({ nodeId, runId, error }: Input<'node:error'>): string | undefined {
    if (asNonEmptyText(nodeId) === undefined) return 'without a nodeId';
    const key = asNonEmptyText(runId) ?? nodeId;
    const node = this.#agents.ensureNode(key, nodeId);
    if (node === undefined) return this.#agents.reportLate('node:error');
    const why = formatErrorText(asText(error) ?? node.fault?.message ?? 'no reason given');
    const { code = 'node-error', data } = node.fault ?? {};
    const fault: Fault = { message: `Node "${nodeId}" failed: ${why}`, code, ...defined({ data }) };
    this.fault = fault;
    this.#agents.endChildren(node, { outcome: 'error', error: fault });
    node.failOpenCalls();
    this.#agents.end(key, node, { outcome: 'error', error: fault });
    return undefined;
  }

  #getNodeText(node: NodeOutput): string | undefined {
    const nodeText = this.#nodeText ?? false;
    if (nodeText === false) return undefined;
    if (nodeText !== true) return nodeText(node);
    const { output } = node;
    return asNonEmptyText(output) ?? (isFields(output) ? asNonEmptyText(output.text) : undefined);
  }
}

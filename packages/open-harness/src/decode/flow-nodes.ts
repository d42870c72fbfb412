import type { Fault, RunInput } from '@intertie/core';
import { toJson, defined, isFields, asNonEmptyText, asText } from '@intertie/core/internal';
import type { NodeOutput, OpenHarnessDecoderOptions } from './decoder-options.ts';
import type { FlowAgents } from './flow-agents.ts';
import { friendlyText } from './friendly-text.ts';
import type { Surroundings } from './invocation.ts';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';

type Input<Type extends RuntimeEvent['type']> = Extract<RuntimeEvent, { type: Type }>;

/** What becomes of the nodes of a flow. Each of them is an agent; what it says as one is not here. */
export class FlowNodes {
  /** Why the node that ended last did not succeed, as long as nothing has started since. */
  fault: Fault | undefined;
  #flow: Surroundings & { readonly run: RunInput };
  #agents: FlowAgents;
  #nodeText: OpenHarnessDecoderOptions['nodeText'];

  constructor(
    flow: Surroundings & { readonly run: RunInput },
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
    const node = this.#agents.node(key, nodeId);
    if (node === undefined) return this.#agents.late('node:complete');
    this.#agents.endChildren(node, { outcome: 'complete' });
    node.settleCalls();
    const words = node.hasText ? undefined : this.#wordsOf({ nodeId, runId: key, output });
    if (words !== undefined) node.whole('text', words);
    node.endTurn();
    const result = toJson(output, this.#flow.onLoss);
    this.#flow.say({
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
    const node = this.#agents.node(key, nodeId);
    if (node === undefined) return this.#agents.late('node:error');
    const why = friendlyText(asText(error) ?? node.fault?.message ?? 'it did not say why');
    const { code = 'node-error', data } = node.fault ?? {};
    const fault: Fault = { message: `Node "${nodeId}" failed: ${why}`, code, ...defined({ data }) };
    this.fault = fault;
    this.#agents.endChildren(node, { outcome: 'error', error: fault });
    node.settleCalls();
    this.#agents.end(key, node, { outcome: 'error', error: fault });
    return undefined;
  }

  #wordsOf(node: NodeOutput): string | undefined {
    const nodeText = this.#nodeText ?? false;
    if (nodeText === false) return undefined;
    if (nodeText !== true) return nodeText(node);
    const { output } = node;
    return asNonEmptyText(output) ?? (isFields(output) ? asNonEmptyText(output.text) : undefined);
  }
}

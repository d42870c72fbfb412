import type { UIMessageChunk } from '@intertie/ai-sdk';
import type { Codec, Emit } from '@intertie/core';
import { isFields, asNonEmptyText } from '@intertie/core/internal';

export interface FlowChunkOptions {
  /**
   * `true`: a step per node invocation, and further ones for a second `agent:start` and for text of a sub-agent (see the README).
   * `'nodes'`: exactly one step per node invocation. `false`: no steps. Default: true.
   */
  sendStepMarkers?: boolean | 'nodes';
}

type AgentChunk = { data?: unknown; transient?: boolean };

/** Adds a step for every node that starts, even if it emits nothing, to the steps of the encoder, or replaces those steps. */
export function createFlowChunks(options: FlowChunkOptions = {}): Codec<UIMessageChunk, UIMessageChunk> {
  const { sendStepMarkers = true } = options;
  const seen = new Set<string>();
  /** Open text parts. ai 6 drops open parts when a step ends. */
  const open = new Set<string>();
  let isStep = false;
  /** The step is still empty. */
  let isFresh = false;
  /** The encoder ended its step. Delayed, because its next step may be one that we have started already. */
  let isHeld = false;
  /** Nodes that started while text of another node was open. Their steps start when nothing is open. */
  let deferred = 0;

  const endStep = (emit: Emit<UIMessageChunk>): void => {
    if (isStep) emit({ type: 'finish-step' });
    isStep = false;
    isHeld = false;
  };

  const startStep = (emit: Emit<UIMessageChunk>): void => {
    endStep(emit);
    emit({ type: 'start-step' });
    isStep = true;
    isFresh = true;
  };

  const handleStepChunk = (chunk: UIMessageChunk, emit: Emit<UIMessageChunk>): void => {
    if (sendStepMarkers === 'nodes') {
      // Content requires a step, even if no node has started.
      if (chunk.type === 'start-step' && !isStep) startStep(emit);
      return;
    }
    if (chunk.type === 'finish-step') {
      isHeld = true;
      return;
    }
    if (!isFresh || !isStep) return startStep(emit);
    isHeld = false;
  };

  const handleAgentChunk = (chunk: UIMessageChunk & AgentChunk, emit: Emit<UIMessageChunk>): void => {
    if (!isFields(chunk.data)) return emit(chunk);
    const { agentId: wireId, kind } = chunk.data;
    const agentId = asNonEmptyText(wireId) ?? '';
    const isNew = !seen.has(agentId);
    seen.add(agentId);
    const startsStep = sendStepMarkers !== false && kind === 'node';
    if (startsStep && isNew && open.size === 0) startStep(emit);
    else if (startsStep && isNew && sendStepMarkers === 'nodes') deferred += 1;
    const { transient, ...kept } = chunk;
    emit({
      ...kept,
      // Persist the node's name in its step, even if the node emits nothing.
      ...(transient && !startsStep && { transient }),
    });
  };

  return {
    feed(chunk, emit) {
      const { type } = chunk;
      if (type === 'start-step' || type === 'finish-step') {
        if (sendStepMarkers) handleStepChunk(chunk, emit);
        return;
      }
      // Without steps a reset would remove the whole message.
      if (type === 'reset-step' && !sendStepMarkers) return;
      if (type === 'data-agent') return handleAgentChunk(chunk, emit);
      if (type === 'finish' || type === 'abort' || type === 'error') endStep(emit);
      if (isHeld && !type.startsWith('data-')) endStep(emit);
      if (type === 'text-start' || type === 'reasoning-start') open.add(chunk.id);
      if (type === 'text-end' || type === 'reasoning-end') open.delete(chunk.id);
      if (!type.startsWith('data-') && type !== 'start' && type !== 'message-metadata') isFresh = false;
      emit(chunk);
      for (; deferred > 0 && open.size === 0; deferred -= 1) startStep(emit);
    },
    end(_end, emit) {
      endStep(emit);
    },
  };
}

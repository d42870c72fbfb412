import type { UIMessageChunk } from '@intertie/ai-sdk';
import type { Codec, Emit } from '@intertie/core';
import { isFields, nameOf } from '@intertie/core/fields';

export interface FlowChunkOptions {
  /** Whether every node that starts is a step of the message. Default: yes. */
  sendStepMarkers?: boolean;
}

type AgentChunk = { data?: unknown; transient?: boolean };

/** The encoder begins a step where words of another turn begin; of a flow, every node is one, also if it says nothing. */
export function createFlowChunks(options: FlowChunkOptions = {}): Codec<UIMessageChunk, UIMessageChunk> {
  const { sendStepMarkers = true } = options;
  const seen = new Set<string>();
  /** Open words: a step that ends makes ai 6 forget them. */
  const open = new Set<string>();
  let isStep = false;
  /** The step has nothing in it yet. */
  let isFresh = false;
  /** The encoder has ended its step, and may begin another in which we already are. */
  let isHeld = false;

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

  const mark = (chunk: UIMessageChunk, emit: Emit<UIMessageChunk>): void => {
    if (chunk.type === 'finish-step') {
      isHeld = true;
      return;
    }
    if (!isFresh || !isStep) return startStep(emit);
    isHeld = false;
  };

  const agent = (chunk: UIMessageChunk & AgentChunk, emit: Emit<UIMessageChunk>): void => {
    if (!isFields(chunk.data)) return emit(chunk);
    const { agentId: wireId, kind } = chunk.data;
    const agentId = nameOf(wireId) ?? '';
    const isNew = !seen.has(agentId);
    seen.add(agentId);
    const isStepOf = sendStepMarkers && kind === 'node';
    if (isStepOf && isNew && open.size === 0) startStep(emit);
    const { transient, ...kept } = chunk;
    emit({
      ...kept,
      // A step has its node's name, also if the node says nothing.
      ...(transient && !isStepOf && { transient }),
    });
  };

  return {
    feed(chunk, emit) {
      const { type } = chunk;
      if (type === 'start-step' || type === 'finish-step') {
        if (sendStepMarkers) mark(chunk, emit);
        return;
      }
      // Without steps it would take back the whole message.
      if (type === 'reset-step' && !sendStepMarkers) return;
      if (type === 'data-agent') return agent(chunk, emit);
      if (type === 'finish' || type === 'abort' || type === 'error') endStep(emit);
      if (isHeld && !type.startsWith('data-')) endStep(emit);
      if (type === 'text-start' || type === 'reasoning-start') open.add(chunk.id);
      if (type === 'text-end' || type === 'reasoning-end') open.delete(chunk.id);
      if (!type.startsWith('data-') && type !== 'start' && type !== 'message-metadata') isFresh = false;
      emit(chunk);
    },
    end(_end, emit) {
      endStep(emit);
    },
  };
}

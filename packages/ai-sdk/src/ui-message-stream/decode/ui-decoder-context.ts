import type { AgentEvent, Emit, Meta, OnLoss, RunInput } from '@intertie/core';
import type { Attribution, PartIds } from '@intertie/core/internal';
import type { ExecutorLookup } from '../../full-stream/tool-executors.ts';

/** State and functions that the decoders of a UI message stream share. */
export interface UIDecoderContext {
  run: RunInput;
  ids: PartIds;
  onLoss: OnLoss;
  getExecutor: ExecutorLookup;
  /** Claims an id for a complete part: that of the wire, unless the thread already uses it. */
  claimId(wireId: string | undefined): string;
  /** Returns the canonical id of a part that starts. */
  toPartId(wireId: string): string;
  /** Returns the canonical id of a call. */
  findCallId(wireId: string): string | undefined;
  /** Returns agent, step and the metadata of providers. */
  getAttribution(meta: Meta | undefined, emit: Emit<AgentEvent>): Attribution;
  addOpenPart(stepId: string | undefined): void;
  removeOpenPart(stepId: string | undefined, emit: Emit<AgentEvent>): void;
}

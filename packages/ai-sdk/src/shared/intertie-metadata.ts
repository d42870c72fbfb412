import type { Json, JsonObject, Meta } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';

/** The key under `providerMetadata` (and `providerOptions`) where we keep what the AI SDK has no field for. */
export const slotKey = 'intertie';

/** Identity and attribution of a part, in the slot under their canonical names. */
type KeptFields = { id?: string; agentId?: string; stepId?: string; to?: string[]; internal?: true };

/** The identity of a part, as far as it has one, for the slot. */
export function keptSlot({ id, agentId, stepId, to, internal }: KeptFields): JsonObject {
  const slot: JsonObject = {};
  if (id !== undefined) slot.id = id;
  if (agentId !== undefined) slot.agentId = agentId;
  if (stepId !== undefined) slot.stepId = stepId;
  if (to !== undefined) slot.to = to;
  if (internal !== undefined) slot.internal = internal;
  return slot;
}

/** The metadata with the slot in it; an empty slot leaves the metadata as it was. */
export function withSlot(meta: Meta | undefined, slot: JsonObject): Meta | undefined {
  if (Object.keys(slot).length === 0) return meta;
  if (meta === undefined) return { intertie: slot };
  return Object.hasOwn(meta, slotKey) ? mergeMeta(meta, { intertie: slot }) : { intertie: slot, ...meta };
}

/** The slot, and the metadata without it. */
export function takeSlot(meta: Meta | undefined): { slot: JsonObject; meta?: Meta } {
  if (meta === undefined) return { slot: {} };
  const { [slotKey]: slot = {}, ...rest } = meta;
  return { slot, ...(Object.keys(rest).length > 0 && { meta: rest }) };
}

/** The identity that a slot holds. A client may have sent it, so every field is checked. */
export function keptOf(slot: JsonObject): KeptFields {
  const { id, agentId, stepId, to, internal } = slot;
  return {
    ...(isName(id) && { id }),
    ...(isName(agentId) && { agentId }),
    ...(isName(stepId) && { stepId }),
    ...(Array.isArray(to) && to.every(isName) && { to }),
    ...(internal === true && { internal }),
  };
}

function isName(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

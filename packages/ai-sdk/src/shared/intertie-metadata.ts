import type { Json, JsonObject, Meta } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';

/** The key under `providerMetadata` (and `providerOptions`) where we keep what the AI SDK has no field for. */
export const metadataKey = 'intertie';

/** Identity and attribution of a part, in the slot under their canonical names. */
type PartIdentity = { id?: string; agentId?: string; stepId?: string; to?: string[]; internal?: true };

/** The identity of a part, as far as it has one, for the slot. */
export function toIdentityMetadata({ id, agentId, stepId, to, internal }: PartIdentity): JsonObject {
  const intertie: JsonObject = {};
  if (id !== undefined) intertie.id = id;
  if (agentId !== undefined) intertie.agentId = agentId;
  if (stepId !== undefined) intertie.stepId = stepId;
  if (to !== undefined) intertie.to = to;
  if (internal !== undefined) intertie.internal = internal;
  return intertie;
}

/** The metadata with the slot in it; an empty slot leaves the metadata as it was. */
export function withIntertieMetadata(meta: Meta | undefined, intertie: JsonObject): Meta | undefined {
  if (Object.keys(intertie).length === 0) return meta;
  if (meta === undefined) return { intertie };
  return Object.hasOwn(meta, metadataKey) ? mergeMeta(meta, { intertie }) : { intertie, ...meta };
}

/** The slot, and the metadata without it. */
export function splitMetadata(meta: Meta | undefined): { intertie: JsonObject; meta?: Meta } {
  if (meta === undefined) return { intertie: {} };
  const { [metadataKey]: intertie = {}, ...rest } = meta;
  return { intertie, ...(Object.keys(rest).length > 0 && { meta: rest }) };
}

/** The identity that a slot holds. A client may have sent it, so every field is checked. */
export function parseIdentity(intertie: JsonObject): PartIdentity {
  const { id, agentId, stepId, to, internal } = intertie;
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

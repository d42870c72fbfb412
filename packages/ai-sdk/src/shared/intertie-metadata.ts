import type { Json, JsonObject, Meta } from '@intertie/core';
import { mergeMeta } from '@intertie/core/internal';

/** Key in `providerMetadata` and `providerOptions` for the fields that the AI SDK does not have. */
export const metadataKey = 'intertie';

/** Identity and attribution of a part, under their canonical names. */
type PartIdentity = { id?: string; agentId?: string; stepId?: string; to?: string[]; internal?: true };

/** Picks the identity fields of a part that are set. */
export function toIdentity({ id, agentId, stepId, to, internal }: PartIdentity): JsonObject {
  const intertie: JsonObject = {};
  if (id !== undefined) intertie.id = id;
  if (agentId !== undefined) intertie.agentId = agentId;
  if (stepId !== undefined) intertie.stepId = stepId;
  if (to !== undefined) intertie.to = to;
  if (internal !== undefined) intertie.internal = internal;
  return intertie;
}

/** Adds our fields to provider metadata. Returns the metadata unchanged if there are none. */
export function withIntertie(meta: Meta | undefined, intertie: JsonObject): Meta | undefined {
  if (Object.keys(intertie).length === 0) return meta;
  if (meta === undefined) return { intertie };
  return Object.hasOwn(meta, metadataKey) ? mergeMeta(meta, { intertie }) : { intertie, ...meta };
}

/** Separates our fields from the metadata of providers. */
export function splitMetadata(meta: Meta | undefined): { intertie: JsonObject; meta?: Meta } {
  if (meta === undefined) return { intertie: {} };
  const { [metadataKey]: intertie = {}, ...rest } = meta;
  return { intertie, ...(Object.keys(rest).length > 0 && { meta: rest }) };
}

/** Reads the identity of a part from our fields. Checks each one: a client may have sent it. */
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

import type { JsonObject, Meta } from '@intertie/core';
import type { CallBody, Attribution } from '@intertie/core/internal';
import { openMetaOf } from '../shared/encrypted-value.ts';

/**
 * What AG-UI has no field for, of a part and of who said it. An encrypted value travels by itself, and the agent does where
 * it is the owner.
 */
export function saidSlot(
  said: Attribution,
  owner: string | undefined,
  meta: Meta | undefined = said.providerMetadata,
): JsonObject {
  const slot: JsonObject = {};
  if (said.agentId !== undefined && said.agentId !== owner) slot.agentId = said.agentId;
  if (said.stepId !== undefined) slot.stepId = said.stepId;
  if (said.to !== undefined) slot.to = said.to;
  if (said.internal !== undefined) slot.internal = said.internal;
  const open = openMetaOf(meta);
  if (open !== undefined) slot.providerMetadata = open;
  return slot;
}

export function callSlot(call: CallBody & Attribution, owner: string | undefined, meta?: Meta): JsonObject {
  const slot = saidSlot(call, owner, meta);
  if (call.executor !== undefined) slot.executor = call.executor;
  if (call.dynamic !== undefined) slot.dynamic = call.dynamic;
  if (call.title !== undefined) slot.title = call.title;
  if (call.inputEncoding !== undefined) slot.inputEncoding = call.inputEncoding;
  if (call.toolMetadata !== undefined) slot.toolMetadata = call.toolMetadata;
  return slot;
}

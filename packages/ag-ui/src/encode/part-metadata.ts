import type { JsonObject, Meta } from '@intertie/core';
import type { CallBody, Attribution } from '@intertie/core/internal';
import { omitEncrypted } from '../shared/encrypted-value.ts';

/**
 * Returns the fields of a part's attribution that AG-UI lacks. Encrypted values have their own event, and the agent is omitted
 * if it is the owner.
 */
export function partMetadata(
  attribution: Attribution,
  owner: string | undefined,
  meta: Meta | undefined = attribution.providerMetadata,
): JsonObject {
  const metadata: JsonObject = {};
  if (attribution.agentId !== undefined && attribution.agentId !== owner) metadata.agentId = attribution.agentId;
  if (attribution.stepId !== undefined) metadata.stepId = attribution.stepId;
  if (attribution.to !== undefined) metadata.to = attribution.to;
  if (attribution.internal !== undefined) metadata.internal = attribution.internal;
  const open = omitEncrypted(meta);
  if (open !== undefined) metadata.providerMetadata = open;
  return metadata;
}

/** Does the same for a tool call. */
export function callMetadata(call: CallBody & Attribution, owner: string | undefined, meta?: Meta): JsonObject {
  const metadata = partMetadata(call, owner, meta);
  if (call.executor !== undefined) metadata.executor = call.executor;
  if (call.dynamic !== undefined) metadata.dynamic = call.dynamic;
  if (call.title !== undefined) metadata.title = call.title;
  if (call.inputEncoding !== undefined) metadata.inputEncoding = call.inputEncoding;
  if (call.toolMetadata !== undefined) metadata.toolMetadata = call.toolMetadata;
  return metadata;
}

import type { JsonObject, Meta, OnLoss } from '@intertie/core';
import { equalJson, mergeMeta, toJson } from '@intertie/core/internal';
import { slotKey } from './intertie-metadata.ts';
import { asFields, isFields, isJsonObject, type Fields } from './read-fields.ts';

/** Where an agent's own metadata is kept. */
const foreignKey = 'ag-ui';

/** What an event's metadata says: a provider's that we have sent, and what else an agent has said there. */
export function metaOf(event: Fields, onLoss?: OnLoss): Meta | undefined {
  if (event.metadata === undefined) return undefined;
  const { [slotKey]: kept, ...foreign } = asFields(event.metadata);
  const { providerMetadata } = asFields(kept);
  const meta: Meta = {
    ...(isFields(providerMetadata) && (toJson(providerMetadata, onLoss) as Meta)),
    ...(Object.keys(foreign).length > 0 && { [foreignKey]: { metadata: toJson(foreign, onLoss) } }),
  };
  return Object.keys(meta).length > 0 ? meta : undefined;
}

/** What an event says of something beyond what was said before. Of an agent's own metadata, the last word for each key counts. */
export function laterMetaOf(event: Fields, before: Meta | undefined, onLoss?: OnLoss): Meta | undefined {
  const meta = metaOf(event, onLoss);
  if (meta === undefined || before === undefined) return meta;
  const own = ownOf(meta);
  const later = own ? mergeMeta(meta, { [foreignKey]: { metadata: { ...ownOf(before), ...own } } }) : meta;
  return equalJson(mergeMeta(before, later), before) ? undefined : later;
}

function ownOf(meta: Meta): JsonObject | undefined {
  const own = meta[foreignKey]?.metadata;
  return isJsonObject(own) ? own : undefined;
}

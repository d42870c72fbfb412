import type { JsonObject, Meta, OnLoss } from '@intertie/core';
import { toJson } from '@intertie/core';
import { equalJson, mergeMeta } from '@intertie/core/internal';
import { metadataKey } from './intertie-metadata.ts';
import { asFields, isFields, isJsonObject, type Fields } from './read-fields.ts';

/** Provider key for metadata of other AG-UI agents. */
const foreignKey = 'ag-ui';

/** Reads the metadata of an event: provider metadata that our encoder sent, and metadata of other agents. */
export function readMeta(event: Fields, onLoss?: OnLoss): Meta | undefined {
  if (event.metadata === undefined) return undefined;
  const { [metadataKey]: extra, ...foreign } = asFields(event.metadata);
  const { providerMetadata } = asFields(extra);
  const meta: Meta = {
    ...(isFields(providerMetadata) && (toJson(providerMetadata, onLoss) as Meta)),
    ...(Object.keys(foreign).length > 0 && { [foreignKey]: { metadata: toJson(foreign, onLoss) } }),
  };
  return Object.keys(meta).length > 0 ? meta : undefined;
}

/** Reads the metadata that an event adds to earlier events of the same part. Per key of another agent, the last value wins. */
export function readLaterMeta(event: Fields, before: Meta | undefined, onLoss?: OnLoss): Meta | undefined {
  const meta = readMeta(event, onLoss);
  if (meta === undefined || before === undefined) return meta;
  const foreignMetadata = getForeignMetadata(meta);
  const later = foreignMetadata
    ? mergeMeta(meta, { [foreignKey]: { metadata: { ...getForeignMetadata(before), ...foreignMetadata } } })
    : meta;
  return equalJson(mergeMeta(before, later), before) ? undefined : later;
}

function getForeignMetadata(meta: Meta): JsonObject | undefined {
  const foreignMetadata = meta[foreignKey]?.metadata;
  return isJsonObject(foreignMetadata) ? foreignMetadata : undefined;
}

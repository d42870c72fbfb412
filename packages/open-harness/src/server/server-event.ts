import type { OnLoss } from '@intertie/core';
import { toJson } from '@intertie/core';
import { type Op, isFields } from '@intertie/core/internal';

/** Event of `GET /sessions/:id/events`. The payload is not validated. */
export type ServerEvent = {
  id?: string;
  name: string;
  payload: { readonly [field: string]: unknown };
  timestamp?: number;
  causedBy?: string;
};

export function isServerEvent(value: unknown): value is ServerEvent {
  return isFields(value) && typeof value.name === 'string' && isFields(value.payload);
}

/** Immer patch, whose path is a list of keys. */
export type ImmerPatch = { op: 'add' | 'replace' | 'remove'; path: ReadonlyArray<string | number>; value?: unknown };

export function isImmerPatch(value: unknown): value is ImmerPatch {
  if (!isFields(value) || !Array.isArray(value.path)) return false;
  return value.op === 'add' || value.op === 'replace' || value.op === 'remove';
}

/** Converts an Immer patch to a JSON Patch operation. */
export function toOp({ op, path: keys, value }: ImmerPatch, onLoss: OnLoss): Op {
  const path = keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return op === 'remove' ? { op, path } : { op, path, value: toJson(value, onLoss) };
}

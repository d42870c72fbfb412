import type { EventOf, Json, JsonObject } from '@intertie/core';
import { applyPatch, type DataPart, type Op } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { toCustomName } from '../shared/custom-name.ts';
import { ownerField } from './encode-agents.ts';
import { toMetadata } from '../shared/intertie-metadata.ts';
import { partMetadata } from './part-metadata.ts';
import { isJsonObject } from '../shared/read-fields.ts';
import { toActivityContent } from './to-ag-ui-messages.ts';

type Write = (event: AGUIEvent) => void;
/** `isSent`: the client has the current value. */
type Data = { name: string; value: Json; owner: string | undefined; isSent: boolean; isTransient: boolean };

/** Encodes data as activities, which the client stores and patches, and transient data as custom events. */
export class ActivityEncoder {
  #data = new Map<string, Data>();

  /** Registers data of the message that the run continues. Clients do not send activities, so this one may lack it. */
  register({ id, name = 'data', data: value }: DataPart): void {
    if (id !== undefined) this.#data.set(id, { name, value, owner: undefined, isSent: false, isTransient: false });
  }

  data(event: EventOf<'data'>, owner: string | undefined, write: Write): void {
    const { id, name, data: value, transient } = event;
    const known = this.#data.get(id);
    const data: Data = {
      name,
      value,
      owner: known ? known.owner : owner,
      isSent: true,
      isTransient: transient === true,
    };
    this.#data.set(id, data);
    const extra = partMetadata(event, data.owner);
    if (transient) {
      return write({
        type: 'CUSTOM',
        name: toCustomName(event),
        value,
        ...ownerField(data.owner),
        ...toMetadata({ ...extra, id }),
      });
    }
    this.#snapshot(id, data, extra, write);
  }

  delta({ id, patch }: EventOf<'data-delta'>, write: Write): boolean {
    const data = this.#data.get(id);
    if (data === undefined) return false;
    const wasObject = isJsonObject(data.value);
    const patched = applyPatch(data.value, patch);
    if (!patched.ok) return false;
    data.value = patched.value;
    const isWhole = patch.some((op) => op.path === '' || ('from' in op && op.from === ''));
    if (!data.isSent || data.isTransient || isWhole || wasObject !== isJsonObject(data.value)) {
      data.isSent = true;
      this.#snapshot(id, data, {}, write);
      return true;
    }
    const wrapped = wasObject ? patch : patch.map(wrapPatchPath);
    write({ type: 'ACTIVITY_DELTA', messageId: id, activityType: data.name, patch: wrapped });
    return true;
  }

  #snapshot(messageId: string, { name, value, owner }: Data, extra: JsonObject, write: Write): void {
    const wrapped = isJsonObject(value) ? extra : { ...extra, isValue: true };
    const content = toActivityContent(value);
    write({
      type: 'ACTIVITY_SNAPSHOT',
      messageId,
      activityType: name,
      content,
      ...ownerField(owner),
      ...toMetadata(wrapped),
    });
  }
}

/** Rebases a patch on `value`: the content of an activity is an object, so other values are wrapped. */
function wrapPatchPath(op: Op): Op {
  const path = `/value${op.path}`;
  return 'from' in op ? { ...op, from: `/value${op.from}`, path } : { ...op, path };
}

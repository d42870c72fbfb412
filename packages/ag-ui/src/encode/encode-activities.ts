import type { EventOf, Json, JsonObject } from '@intertie/core';
import { applyPatch, type DataPart, type Op } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { toCustomName } from '../shared/custom-name.ts';
import { tag } from './encode-agents.ts';
import { slot } from '../shared/intertie-metadata.ts';
import { saidSlot } from './part-metadata.ts';
import { isJsonObject } from '../shared/read-fields.ts';
import { activityContent } from './to-ag-ui-messages.ts';

type Write = (event: AGUIEvent) => void;
/** `isKnown`: the client has it as it is. */
type Data = { name: string; value: Json; owner: string | undefined; isKnown: boolean; isTransient: boolean };

/** Data as activities, which the client keeps and patches; transient data as custom events, under their own names. */
export class AGUIActivities {
  #data = new Map<string, Data>();

  /** Of the message that the run goes on with. A client does not send its activities, so it may not have this one. */
  learn({ id, name = 'data', data: value }: DataPart): void {
    if (id !== undefined) this.#data.set(id, { name, value, owner: undefined, isKnown: false, isTransient: false });
  }

  data(event: EventOf<'data'>, owner: string | undefined, write: Write): void {
    const { id, name, data: value, transient } = event;
    const known = this.#data.get(id);
    const data: Data = {
      name,
      value,
      owner: known ? known.owner : owner,
      isKnown: true,
      isTransient: transient === true,
    };
    this.#data.set(id, data);
    const kept = saidSlot(event, data.owner);
    if (transient) {
      return write({ type: 'CUSTOM', name: toCustomName(event), value, ...tag(data.owner), ...slot({ ...kept, id }) });
    }
    this.#snapshot(id, data, kept, write);
  }

  delta({ id, patch }: EventOf<'data-delta'>, write: Write): boolean {
    const data = this.#data.get(id);
    if (data === undefined) return false;
    const wasObject = isJsonObject(data.value);
    const patched = applyPatch(data.value, patch);
    if (!patched.ok) return false;
    data.value = patched.value;
    const isWhole = patch.some((op) => op.path === '' || ('from' in op && op.from === ''));
    if (!data.isKnown || data.isTransient || isWhole || wasObject !== isJsonObject(data.value)) {
      data.isKnown = true;
      this.#snapshot(id, data, {}, write);
      return true;
    }
    const inside = wasObject ? patch : patch.map(insideValue);
    write({ type: 'ACTIVITY_DELTA', messageId: id, activityType: data.name, patch: inside });
    return true;
  }

  #snapshot(messageId: string, { name, value, owner }: Data, kept: JsonObject, write: Write): void {
    const wrapped = isJsonObject(value) ? kept : { ...kept, isValue: true };
    const content = activityContent(value);
    write({ type: 'ACTIVITY_SNAPSHOT', messageId, activityType: name, content, ...tag(owner), ...slot(wrapped) });
  }
}

/** An activity is an object: what is none is in its `value`. */
function insideValue(op: Op): Op {
  const path = `/value${op.path}`;
  return 'from' in op ? { ...op, from: `/value${op.from}`, path } : { ...op, path };
}

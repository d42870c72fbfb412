import type { Emit, EventOf, Json, Meta, OnLoss } from '@intertie/core';
import { applyPatch, mergeMeta, type DataPart } from '@intertie/core/internal';
import { partMeta } from './encode-ui-parts.ts';
import { providerKindOf } from '../../shared/provider-data.ts';
import { extensionId } from '../chunk/ui-extension.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import type { UISteps } from './ui-steps.ts';

type Write = Emit<UIMessageChunk>;
type Data = { name: string; value: Json; transient: boolean; stepId?: string; meta: Meta | undefined };

export interface UIDataOptions {
  version: UIMessageVersion;
  onLoss: OnLoss;
  steps: UISteps;
}

/** Writes data and the shared state. The client knows no patches, so the values are kept here, and sent whole. */
export class UIData {
  #options: UIDataOptions;
  #data = new Map<string, Data>();
  #state: Json = {};

  constructor(options: UIDataOptions) {
    this.#options = options;
  }

  /** The client has this data already. */
  learn(id: string, { name = 'data', data: value, providerMetadata: meta }: DataPart): void {
    this.#data.set(id, { name, value, transient: false, meta });
  }

  /** The turn was retried, and the client has dropped its parts. */
  forget(stepId: string): void {
    for (const [id, data] of this.#data) if (data.stepId === stepId) this.#data.delete(id);
  }

  /** `isShown` is asked of data that is new. */
  part(event: EventOf<'data'>, isShown: () => boolean, emit: Write): void {
    const { id, name, data: value, stepId, transient = false } = event;
    const before = this.#data.get(id);
    if (before === undefined) {
      if (!isShown()) return;
      if (!transient) this.#options.steps.place(stepId, emit);
      const meta = partMeta(event);
      this.#data.set(id, { name, value, transient, meta, ...(stepId !== undefined && { stepId }) });
    } else {
      before.value = value;
      before.meta = mergeMeta(before.meta, event.providerMetadata);
      if (name !== before.name) {
        const why = `The client replaces data by its name and id, so it stays "${before.name}".`;
        this.#options.onLoss({ kind: 'unsupported', what: 'data name', why, id });
      }
      if (event.providerMetadata && !before.transient) {
        const why = 'The client keeps the metadata that data had first.';
        this.#options.onLoss({ kind: 'unsupported', what: 'data metadata', why, id });
      }
    }
    this.#write(id, this.#data.get(id)!, emit);
  }

  /** Whether there is such data. */
  patch({ type, id, patch }: EventOf<'data-delta'>, emit: Write): boolean {
    const data = this.#data.get(id);
    if (data === undefined) return false;
    const patched = applyPatch(data.value, patch);
    if (!patched.ok) {
      this.#options.onLoss({ kind: 'repaired', what: type, why: `It cannot be applied: ${patched.message}.`, id });
      return true;
    }
    data.value = patched.value;
    this.#write(id, data, emit);
    return true;
  }

  setState(state: Json, emit: Write): void {
    this.#state = state;
    emit({ type: 'data-state', id: extensionId('state'), data: state, transient: true });
  }

  patchState({ type, patch }: EventOf<'state-delta'>, emit: Write): void {
    const patched = applyPatch(this.#state, patch);
    if (patched.ok) return this.setState(patched.value, emit);
    this.#options.onLoss({ kind: 'repaired', what: type, why: `It cannot be applied: ${patched.message}.` });
  }

  #write(id: string, { name, value, transient, meta }: Data, emit: Write): void {
    const kind = this.#options.version === 7 && value === null && !transient ? providerKindOf(name) : undefined;
    if (kind !== undefined) return emit({ type: 'custom', kind, ...(meta && { providerMetadata: meta }) });
    emit({
      type: `data-${name}`,
      id,
      data: value,
      ...(transient && { transient }),
      ...(meta && { providerMetadata: meta }),
    });
  }
}

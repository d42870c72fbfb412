import type { Emit, EventOf, Json, Meta, OnLoss } from '@intertie/core';
import { applyPatch, mergeMeta, type DataPart } from '@intertie/core/internal';
import { getPartMetadata } from './encode-ui-parts.ts';
import { parseProviderKind } from '../../shared/provider-data.ts';
import { toExtensionId } from '../chunk/ui-extension.ts';
import type { UIMessageChunk, UIMessageVersion } from '../chunk/ui-message-chunk.ts';
import type { UIStepEncoder } from './encode-ui-steps.ts';

type Write = Emit<UIMessageChunk>;
type Data = { name: string; value: Json; transient: boolean; stepId?: string; meta: Meta | undefined };

export interface UIDataEncoderOptions {
  version: UIMessageVersion;
  onLoss: OnLoss;
  steps: UIStepEncoder;
}

/** Encodes data and the shared state. Applies patches here: the client only accepts complete values. */
export class UIDataEncoder {
  #options: UIDataEncoderOptions;
  #data = new Map<string, Data>();
  #state: Json = {};

  constructor(options: UIDataEncoderOptions) {
    this.#options = options;
  }

  /** Adds data that the client already has. */
  addBaseline(id: string, { name = 'data', data: value, providerMetadata: meta }: DataPart): void {
    this.#data.set(id, { name, value, transient: false, meta });
  }

  /** Forgets the data of a discarded step, whose parts the client has removed. */
  discardStep(stepId: string): void {
    for (const [id, data] of this.#data) if (data.stepId === stepId) this.#data.delete(id);
  }

  /** Encodes new or replaced data. `isShown` is only called for new data. */
  encodeData(event: EventOf<'data'>, isShown: () => boolean, emit: Write): void {
    const { id, name, data: value, stepId, transient = false } = event;
    const before = this.#data.get(id);
    if (before === undefined) {
      if (!isShown()) return;
      if (!transient) this.#options.steps.enterNamedStep(stepId, emit);
      const meta = getPartMetadata(event);
      this.#data.set(id, { name, value, transient, meta, ...(stepId !== undefined && { stepId }) });
    } else {
      before.value = value;
      before.meta = mergeMeta(before.meta, event.providerMetadata);
      if (name !== before.name) {
        const why = `The client identifies data by name and id, so the name stays "${before.name}".`;
        this.#options.onLoss({ kind: 'unsupported', what: 'data name', why, id });
      }
      if (event.providerMetadata && !before.transient) {
        const why = 'The client keeps the first metadata of data.';
        this.#options.onLoss({ kind: 'unsupported', what: 'data metadata', why, id });
      }
    }
    this.#emitData(id, this.#data.get(id)!, emit);
  }

  /** Returns false if there is no such data. */
  encodePatch({ type, id, patch }: EventOf<'data-delta'>, emit: Write): boolean {
    const data = this.#data.get(id);
    if (data === undefined) return false;
    const patched = applyPatch(data.value, patch);
    if (!patched.ok) {
      this.#options.onLoss({ kind: 'repaired', what: type, why: `The patch failed: ${patched.message}.`, id });
      return true;
    }
    data.value = patched.value;
    this.#emitData(id, data, emit);
    return true;
  }

  encodeState(state: Json, emit: Write): void {
    this.#state = state;
    emit({ type: 'data-state', id: toExtensionId('state'), data: state, transient: true });
  }

  encodeStatePatch({ type, patch }: EventOf<'state-delta'>, emit: Write): void {
    const patched = applyPatch(this.#state, patch);
    if (patched.ok) return this.encodeState(patched.value, emit);
    this.#options.onLoss({ kind: 'repaired', what: type, why: `The patch failed: ${patched.message}.` });
  }

  #emitData(id: string, { name, value, transient, meta }: Data, emit: Write): void {
    const kind = this.#options.version === 7 && value === null && !transient ? parseProviderKind(name) : undefined;
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

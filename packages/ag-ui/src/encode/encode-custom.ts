import type { AgentEvent } from '@intertie/core';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { ownerField } from './encode-agents.ts';
import { customNames, toMetadata } from '../shared/intertie-metadata.ts';
import { defined } from '../shared/read-fields.ts';
import type { UnattachedPart } from './to-ag-ui-messages.ts';

/** Encodes an event without an AG-UI counterpart as CUSTOM. */
export function encodeCustom(name: keyof typeof customNames, event: AgentEvent, owner?: string): AGUIEvent {
  const { type: _, at: __, origin: ___, ...value } = event;
  return { type: 'CUSTOM', name: customNames[name], value, ...ownerField(owner) };
}

/** Encodes a stored file or source as the CUSTOM event that the live stream had, for a client that joins. */
export function encodeUnattached({ part, id, after }: UnattachedPart, owner: string | undefined): AGUIEvent {
  const { type, ...value } = part;
  return {
    type: 'CUSTOM',
    name: customNames[type],
    value: { ...value, id },
    ...ownerField(owner),
    ...toMetadata(defined({ after })),
  };
}

import type { AgentEvent } from '@intertie/core';
import { omit } from '@intertie/core/internal';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { ownerField } from './encode-agents.ts';
import { customNames, toMetadata } from '../shared/intertie-metadata.ts';
import { defined } from '../shared/read-fields.ts';
import type { UnattachedPart } from './to-ag-ui-messages.ts';

/** Encodes an event without an AG-UI counterpart as CUSTOM. */
export function encodeCustom(name: keyof typeof customNames, event: AgentEvent, owner?: string): AGUIEvent {
  return { type: 'CUSTOM', name: customNames[name], value: omit(event, 'type', 'at', 'origin'), ...ownerField(owner) };
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

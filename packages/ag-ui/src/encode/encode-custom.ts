import type { AgentEvent } from '@intertie/core';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { tag } from './encode-agents.ts';
import { customNames, slot } from '../shared/intertie-metadata.ts';
import { defined } from '../shared/read-fields.ts';
import type { UnattachedPart } from './to-ag-ui-messages.ts';

/** An event that AG-UI has none for, under a name of ours. */
export function encodeCustom(name: keyof typeof customNames, event: AgentEvent, owner?: string): AGUIEvent {
  const { type: _, at: __, origin: ___, ...value } = event;
  return { type: 'CUSTOM', name: customNames[name], value, ...tag(owner) };
}

/** What a client that was there has been told by such an event, for one that joins now. */
export function encodeBeside({ part, id, after }: UnattachedPart, owner: string | undefined): AGUIEvent {
  const { type, ...value } = part;
  return {
    type: 'CUSTOM',
    name: customNames[type],
    value: { ...value, id },
    ...tag(owner),
    ...slot(defined({ after })),
  };
}

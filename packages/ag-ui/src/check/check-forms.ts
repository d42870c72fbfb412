import type { Complain } from './ag-ui-rules.ts';
import { asNonEmptyText, type Fields } from '../shared/read-fields.ts';

const kindOf = /^(TEXT_MESSAGE|REASONING_MESSAGE|TOOL_CALL)_(?:(CHUNK)|START|CONTENT|ARGS|END)$/;

/** Whether each message and call is told one way. */
export class AGUIForms {
  #forms = new Map<string, 'chunks' | 'triad'>();

  /** Before chunks are made triads. */
  feed(event: Fields, complain: Complain): void {
    if (event.type === 'RUN_STARTED') this.#forms.clear();
    const [, kind, chunk] = kindOf.exec(String(event.type)) ?? [];
    const id = asNonEmptyText(kind === 'TOOL_CALL' ? event.toolCallId : event.messageId);
    if (kind === undefined || id === undefined) return;
    const form = chunk === undefined ? 'triad' : 'chunks';
    const known = this.#forms.get(`${kind} ${id}`);
    if (known === undefined) this.#forms.set(`${kind} ${id}`, form);
    else if (known !== form) complain('chunk-mixed', `${String(event.type)} goes on with ${id}, begun the other way.`);
  }
}

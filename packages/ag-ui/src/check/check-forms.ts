import type { Complain } from './ag-ui-rules.ts';
import { asNonEmptyText, type Fields } from '../shared/read-fields.ts';

const eventPattern = /^(TEXT_MESSAGE|REASONING_MESSAGE|TOOL_CALL)_(?:(CHUNK)|START|CONTENT|ARGS|END)$/;

/** Checks that each message and call uses one form, chunks or a triad. */
export class FormChecker {
  #forms = new Map<string, 'chunks' | 'triad'>();

  /** Must get the events before chunks are expanded. */
  feed(event: Fields, complain: Complain): void {
    if (event.type === 'RUN_STARTED') this.#forms.clear();
    const [, kind, chunk] = eventPattern.exec(String(event.type)) ?? [];
    const id = asNonEmptyText(kind === 'TOOL_CALL' ? event.toolCallId : event.messageId);
    if (kind === undefined || id === undefined) return;
    const form = chunk === undefined ? 'triad' : 'chunks';
    const known = this.#forms.get(`${kind} ${id}`);
    if (known === undefined) this.#forms.set(`${kind} ${id}`, form);
    else if (known !== form)
      complain('chunk-mixed', `${String(event.type)} continues ${id}, which uses the other form.`);
  }
}

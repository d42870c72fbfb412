import type { Complain } from './ag-ui-rules.ts';
import { slotKey } from '../shared/intertie-metadata.ts';
import { asFields, asNonEmptyText, type Fields } from '../shared/read-fields.ts';

/** Which calls were made and which were answered, by whom. */
export class AGUICalls {
  /** The calls of this run, with the names of their tools. */
  #called = new Map<string, string | undefined>();
  /** The calls before this run, where it repeats its input: undefined where it does not. */
  #before: Set<string> | undefined;
  /** By this run, or before it. */
  #answered = new Set<string>();
  /** Those that say of themselves that the client runs them. It may have answered while the run went on. */
  #clients = new Set<string>();
  /** The tools that the client offers, where the run repeats its input. */
  #offered = new Set<string>();

  feed(event: Fields, complain: Complain): void {
    switch (event.type) {
      case 'RUN_STARTED':
        return this.#start(event);
      case 'MESSAGES_SNAPSHOT':
        return this.#learn(event.messages);
      case 'TOOL_CALL_START':
        this.#called.set(String(event.toolCallId), asNonEmptyText(event.toolCallName));
        return this.#executor(event);
      case 'TOOL_CALL_END':
        return this.#executor(event);
      case 'TOOL_CALL_RESULT':
        return this.#result(String(event.toolCallId), complain);
      case 'RUN_FINISHED':
        return this.#finish(event, complain);
      default:
    }
  }

  #start(event: Fields): void {
    for (const things of [this.#called, this.#answered, this.#clients]) things.clear();
    const { messages, tools } = asFields(event.input);
    this.#before = Array.isArray(messages) ? new Set() : undefined;
    this.#offered = new Set(
      (Array.isArray(tools) ? tools : []).flatMap((tool) => asNonEmptyText(asFields(tool).name) ?? []),
    );
    this.#learn(messages);
  }

  #learn(messages: unknown): void {
    for (const { role, toolCallId, toolCalls } of Array.isArray(messages) ? messages.map(asFields) : []) {
      if (role === 'tool') this.#answered.add(String(toolCallId));
      for (const { id } of Array.isArray(toolCalls) ? toolCalls.map(asFields) : []) this.#before?.add(String(id));
    }
  }

  #executor({ toolCallId, metadata }: Fields): void {
    const { executor } = asFields(asFields(metadata)[slotKey]);
    if (executor === 'client') this.#clients.add(String(toolCallId));
  }

  #result(toolCallId: string, complain: Complain): void {
    if (this.#answered.has(toolCallId)) complain('result-once', `${toolCallId} is there already.`);
    this.#answered.add(toolCallId);
    const name = this.#called.get(toolCallId);
    if (name !== undefined && this.#offered.has(name)) {
      complain('client-tool', `${toolCallId} is a call of ${name}, which the client offers.`);
    }
  }

  #finish({ outcome }: Fields, complain: Complain): void {
    const { type, pendingToolCallIds, interrupts } = asFields(outcome);
    for (const { toolCallId } of Array.isArray(interrupts) ? interrupts.map(asFields) : []) {
      const name = this.#called.get(String(toolCallId));
      if (name !== undefined && this.#offered.has(name))
        complain(
          'client-tool',
          `An interrupt is about ${String(toolCallId)}, a call of ${name}, which the client offers.`,
        );
    }
    const pending = new Set((Array.isArray(pendingToolCallIds) ? pendingToolCallIds : []).map(String));
    const answered = [...pending].filter((id) => this.#answered.has(id));
    if (answered.length > 0) complain('pending-calls', `${answered.join(', ')} is answered.`);
    const unknown = [...pending].filter((id) => !this.#called.has(id) && this.#before?.has(id) === false);
    if (unknown.length > 0) complain('pending-calls', `${unknown.join(', ')} was never made.`);
    if (type !== undefined && type !== 'success') return;
    const left = [...this.#called].flatMap(([id, name]) => (this.#isLeft(id, name, pending) ? [id] : []));
    if (left.length > 0) complain('unanswered-call', `${left.join(', ')} has no result.`);
  }

  /** Where nothing says which calls are the client's, every call without a result may be one. */
  #isLeft(id: string, name: string | undefined, pending: ReadonlySet<string>): boolean {
    if (this.#answered.has(id) || this.#clients.has(id) || pending.has(id)) return false;
    if (pending.size > 0) return true;
    return this.#offered.size > 0 && !this.#offered.has(name ?? '');
  }
}

import type { Complain } from './ag-ui-rules.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { asFields, asNonEmptyText, type Fields } from '../shared/read-fields.ts';

/** Checks that calls get one result, from the side that executes them. */
export class CallChecker {
  /** Calls of this run, with the names of their tools. */
  #called = new Map<string, string | undefined>();
  /** Calls before this run. Undefined if RUN_STARTED does not repeat the input. */
  #before: Set<string> | undefined;
  /** Calls with a result, of this run or before it. */
  #answered = new Set<string>();
  /** Calls whose metadata names the client as executor. The client may have answered during the run. */
  #clientCalls = new Set<string>();
  /** Names of the client's tools, if RUN_STARTED repeats the input. */
  #clientTools = new Set<string>();

  feed(event: Fields, complain: Complain): void {
    switch (event.type) {
      case 'RUN_STARTED':
        return this.#start(event);
      case 'MESSAGES_SNAPSHOT':
        return this.#readMessages(event.messages);
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
    for (const ids of [this.#called, this.#answered, this.#clientCalls]) ids.clear();
    const { messages, tools } = asFields(event.input);
    this.#before = Array.isArray(messages) ? new Set() : undefined;
    this.#clientTools = new Set(
      (Array.isArray(tools) ? tools : []).flatMap((tool) => asNonEmptyText(asFields(tool).name) ?? []),
    );
    this.#readMessages(messages);
  }

  #readMessages(messages: unknown): void {
    for (const { role, toolCallId, toolCalls } of Array.isArray(messages) ? messages.map(asFields) : []) {
      if (role === 'tool') this.#answered.add(String(toolCallId));
      for (const { id } of Array.isArray(toolCalls) ? toolCalls.map(asFields) : []) this.#before?.add(String(id));
    }
  }

  #executor({ toolCallId, metadata }: Fields): void {
    const { executor } = asFields(asFields(metadata)[metadataKey]);
    if (executor === 'client') this.#clientCalls.add(String(toolCallId));
  }

  #result(toolCallId: string, complain: Complain): void {
    if (this.#answered.has(toolCallId)) complain('result-once', `${toolCallId} already has a result.`);
    this.#answered.add(toolCallId);
    const name = this.#called.get(toolCallId);
    if (name !== undefined && this.#clientTools.has(name)) {
      complain('client-tool', `${toolCallId} is a call of ${name}, which the client offers.`);
    }
  }

  #finish({ outcome }: Fields, complain: Complain): void {
    const { type, pendingToolCallIds, interrupts } = asFields(outcome);
    for (const { toolCallId } of Array.isArray(interrupts) ? interrupts.map(asFields) : []) {
      const name = this.#called.get(String(toolCallId));
      if (name !== undefined && this.#clientTools.has(name))
        complain(
          'client-tool',
          `An interrupt is about ${String(toolCallId)}, a call of ${name}, which the client offers.`,
        );
    }
    const pending = new Set((Array.isArray(pendingToolCallIds) ? pendingToolCallIds : []).map(String));
    const answered = [...pending].filter((id) => this.#answered.has(id));
    if (answered.length > 0) complain('pending-calls', `${answered.join(', ')} already has a result.`);
    const unknown = [...pending].filter((id) => !this.#called.has(id) && this.#before?.has(id) === false);
    if (unknown.length > 0) complain('pending-calls', `${unknown.join(', ')} was never called.`);
    if (type !== undefined && type !== 'success') return;
    const unanswered = [...this.#called].flatMap(([id, name]) => (this.#isUnanswered(id, name, pending) ? [id] : []));
    if (unanswered.length > 0) complain('unanswered-call', `${unanswered.join(', ')} has no result.`);
  }

  /** If nothing identifies the client's calls, any call without a result may be one. */
  #isUnanswered(id: string, name: string | undefined, pending: ReadonlySet<string>): boolean {
    if (this.#answered.has(id) || this.#clientCalls.has(id) || pending.has(id)) return false;
    if (pending.size > 0) return true;
    return this.#clientTools.size > 0 && !this.#clientTools.has(name ?? '');
  }
}

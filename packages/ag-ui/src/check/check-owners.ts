import type { Complain } from './ag-ui-rules.ts';
import { asFields, asNonEmptyText, asText, type Fields } from '../shared/read-fields.ts';

/** Sub-agent that opened something. Undefined: the main agent. */
type Owner = string | undefined;
type Kind = 'message' | 'call' | 'activity' | 'reasoning';

/** Checks that continuing events name the owner of what they continue, or none. */
export class OwnerChecker {
  #owners: { [Of in Kind]: Map<string, Owner> } = {
    message: new Map(),
    call: new Map(),
    activity: new Map(),
    reasoning: new Map(),
  };

  feed(event: Fields, complain: Complain): void {
    if (event.subagentRunId === null) complain('subagent-null', `It is null in ${String(event.type)}.`);
    const messageId = String(event.messageId);
    switch (event.type) {
      case 'RUN_STARTED':
        for (const owners of Object.values(this.#owners)) owners.clear();
        return this.#readMessages(asFields(event.input).messages, complain);
      case 'MESSAGES_SNAPSHOT':
        return this.#readMessages(event.messages, complain);
      case 'RUN_FINISHED':
        return checkInterrupts(event, complain);
      case 'TEXT_MESSAGE_START':
        return this.#open('message', messageId, event, complain);
      case 'TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_END':
        return this.#checkOwner('message', messageId, event, complain);
      case 'TOOL_CALL_START':
        return this.#call(event, complain);
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_END':
        return this.#checkOwner('call', String(event.toolCallId), event, complain);
      case 'TOOL_CALL_RESULT':
        return void this.#owners.message.set(messageId, asText(event.subagentRunId));
      case 'REASONING_START':
      case 'REASONING_MESSAGE_START':
        return this.#open('reasoning', messageId, event, complain);
      case 'REASONING_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_END':
      case 'REASONING_END':
        return this.#checkOwner('reasoning', messageId, event, complain);
      case 'REASONING_ENCRYPTED_VALUE':
        return this.#checkOwner(this.#getKind(event), String(event.entityId), event, complain);
      case 'ACTIVITY_SNAPSHOT':
        if (event.replace !== false || !this.#owners.activity.has(messageId))
          this.#owners.activity.set(messageId, asText(event.subagentRunId));
        return;
      case 'ACTIVITY_DELTA':
        return this.#checkOwner('activity', messageId, event, complain);
      default:
    }
  }

  #open(kind: Kind, id: string, event: Fields, complain: Complain): void {
    if (this.#owners[kind].has(id)) this.#checkOwner(kind, id, event, complain);
    else this.#owners[kind].set(id, asText(event.subagentRunId));
  }

  #checkOwner(kind: Kind, id: string, event: Fields, complain: Complain): void {
    const named = asText(event.subagentRunId);
    const owners = this.#owners[kind];
    if (named === undefined || !owners.has(id) || owners.get(id) === named) return;
    complain('owner', `${String(event.type)} names ${named}, but ${id} belongs to ${describeOwner(owners.get(id))}.`);
  }

  /** A call belongs to the owner of its message. */
  #call(event: Fields, complain: Complain): void {
    const { call, message } = this.#owners;
    const id = String(event.toolCallId);
    const parentId = asNonEmptyText(event.parentMessageId);
    const hasParent = parentId !== undefined && message.has(parentId);
    if (hasParent) this.#checkOwner('message', parentId, event, complain);
    const owner = asText(event.subagentRunId) ?? (hasParent ? message.get(parentId) : undefined);
    if (!call.has(id)) return void call.set(id, owner);
    this.#checkOwner('call', id, event, complain);
    if (event.subagentRunId === undefined && hasParent && owner !== call.get(id)) {
      complain('owner', `${id} belongs to ${describeOwner(call.get(id))}, and its message to ${describeOwner(owner)}.`);
    }
  }

  #getKind({ subtype, entityId }: Fields): Kind {
    if (subtype === 'tool-call') return 'call';
    return this.#owners.message.has(String(entityId)) ? 'message' : 'reasoning';
  }

  #readMessages(messages: unknown, complain: Complain): void {
    for (const message of Array.isArray(messages) ? messages.map(asFields) : []) {
      const id = String(message.id);
      if (message.subagentRunId === null) complain('subagent-null', `It is null in the message ${id}.`);
      const owner = asText(message.subagentRunId);
      const { role, toolCalls } = message;
      this.#owners[role === 'reasoning' || role === 'activity' ? role : 'message'].set(id, owner);
      for (const call of Array.isArray(toolCalls) ? toolCalls.map(asFields) : []) {
        this.#owners.call.set(String(call.id), owner);
      }
    }
  }
}

function checkInterrupts({ outcome }: Fields, complain: Complain): void {
  const { interrupts } = asFields(outcome);
  for (const interrupt of Array.isArray(interrupts) ? interrupts.map(asFields) : []) {
    if (interrupt.subagentRunId === null) complain('subagent-null', 'It is null in an interrupt.');
  }
}

function describeOwner(owner: Owner): string {
  return owner ?? 'the main agent';
}

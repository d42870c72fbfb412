import type { OpenItem, ResumePoint } from '../event/agent-source.ts';
import type { AgentEvent } from '../event/event.ts';
import type { CanonicalMessage } from '../event/message.ts';
import { MessageList } from '../message/message-list.ts';

/** Creates the point at which a run continues: `message` is the stored message, `events` the complete log of the run. */
export function createResumePoint(message: CanonicalMessage, events: readonly AgentEvent[]): ResumePoint {
  const list = new MessageList({ messages: [message] });
  const open = new Map<string, OpenItem>();
  let token: { token?: ResumePoint['token'] } = {};
  for (const event of events) {
    list.feed(event);
    if (event.type === 'checkpoint') token = { token: event.token };
    const change = findOpenItem(event);
    if (change?.isStart) open.set(`${change.kind} ${change.id}`, { kind: change.kind, id: change.id });
    else if (change) open.delete(`${change.kind} ${change.id}`);
  }
  return { events, message: list.message ?? message, open: [...open.values()], ...token };
}

/** Creates the events that close open parts and steps, the last opened first. Agents stay open: they continue with the run. */
export function createClosingEvents(open: readonly OpenItem[]): AgentEvent[] {
  return open.toReversed().flatMap(({ kind, id }): AgentEvent[] => {
    switch (kind) {
      case 'text':
        return [{ type: 'text-end', id }];
      case 'reasoning':
        return [{ type: 'reasoning-end', id }];
      case 'tool-input':
        return [{ type: 'tool-input-end', toolCallId: id }];
      case 'step':
        return [{ type: 'step-end', stepId: id }];
      case 'agent':
        return [];
    }
  });
}

function findOpenItem(event: AgentEvent): (OpenItem & { isStart: boolean }) | undefined {
  switch (event.type) {
    case 'text-start':
    case 'text-end':
      return { kind: 'text', id: event.id, isStart: event.type === 'text-start' };
    case 'reasoning-start':
    case 'reasoning-end':
      return { kind: 'reasoning', id: event.id, isStart: event.type === 'reasoning-start' };
    case 'tool-input-start':
    case 'tool-input-end':
      return { kind: 'tool-input', id: event.toolCallId, isStart: event.type === 'tool-input-start' };
    case 'step-start':
    case 'step-end':
      return { kind: 'step', id: event.stepId, isStart: event.type === 'step-start' };
    case 'agent-start':
    case 'agent-end':
      return { kind: 'agent', id: event.agentId, isStart: event.type === 'agent-start' };
    default:
      return undefined;
  }
}

import { asNonEmptyText, type Fields } from './fields.ts';

/**
 * Patterns that extract the agent's name from an event's description. Names may contain spaces, dots and hyphens, so each
 * event type has its own anchors. A description may also say `agent` about the swarm or a Python object; those do not match.
 */
const descriptionPatterns: { readonly [event: string]: RegExp } = {
  action_call: /^agent (.+?) executing action tool: /,
  action_complete: /^action complete \(caller = (.+?)\):\n/,
  action_error: /^action error \(caller = (.+?), tool = /,
  builtin_tool_call: /^agent (.+?) used (?:web_search|code_interpreter)\b/,
  breakpoint_tool_call: /^agent (.+?) used breakpoint tools /,
  breakpoint_action_complete: /^breakpoint action complete \(caller = (.+?)\):\n/,
  await_message: /^agent '(.+?)' is awaiting a new message/,
  help_called: /^agent (.+) called help$/,
  broadcast_ignored: /^agent (.+) called ignore_broadcast$/,
  task_complete_call: /^agent (.+) called task_complete, full response to follow$/,
  task_complete_call_duplicate: /^agent (.+) called task_complete on already completed task$/,
  agent_error: /^(?:error (?:scheduling|sending) message for agent (.+?): |agent (.+?) called )/,
};

/** Returns the name of the agent that an event is about. Only `tool_call` has fields; other events are parsed by pattern. */
export function findEventAgent(event: string, description: string, extra: Fields): string | undefined {
  if (event === 'tool_call') {
    const end = ` called ${asNonEmptyText(extra.tool_name) ?? ''}`;
    if (!description.startsWith('agent ') || !description.endsWith(end)) return undefined;
    return asNonEmptyText(description.slice('agent '.length, -end.length));
  }
  const found = descriptionPatterns[event]?.exec(description);
  return found?.[1] ?? found?.[2];
}

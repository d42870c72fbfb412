/** MAIL's own tools. Their effects are separate events, so their calls are shown only with `toolCalls: 'all'`. */
export const mailTools: ReadonlySet<string> = new Set([
  'send_request',
  'send_response',
  'send_interrupt',
  'send_broadcast',
  'send_interswarm_broadcast',
  'discover_swarms',
  'task_complete',
  'acknowledge_broadcast',
  'ignore_broadcast',
  'await_message',
  'help',
  'text_output',
]);

/** Tools that the model's vendor executes. A `builtin_tool_call` with input and output follows the `tool_call`. */
export const builtinTools: ReadonlySet<string> = new Set(['web_search_call', 'code_interpreter_call']);

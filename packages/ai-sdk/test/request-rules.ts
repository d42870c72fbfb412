type Fields = { [key: string]: unknown };

/** Finds the problems for which a provider refuses a request body that continues another provider's history. */
export const refusals = {
  anthropic: findAnthropicProblems,
  'openai responses': findResponsesProblems,
  'openai chat': findChatProblems,
  google: findGoogleProblems,
  mistral: findMistralProblems,
  'amazon-bedrock': findBedrockProblems,
  'xai responses': findResponsesProblems,
  groq: findChatProblems,
  deepseek: findChatProblems,
  cohere: findChatProblems,
} satisfies { [api: string]: (body: unknown) => string[] };

function findAnthropicProblems(body: unknown): string[] {
  const problems: string[] = [];
  const messages = list(fields(body)['messages']);
  for (const [index, message] of messages.entries()) {
    const blocks = list(message['content']);
    if (blocks.length === 0) problems.push(`message ${index} is empty`);
    const answered = new Set(list(fields(messages[index + 1])['content']).map((block) => block['tool_use_id']));
    const own = new Set(blocks.map((block) => block['tool_use_id']));
    for (const { type, id, name, input, text, tool_use_id } of blocks) {
      if (type === 'text' && String(text).trim() === '') problems.push(`message ${index} has an empty text`);
      if (type === 'tool_use' && !answered.has(id)) problems.push(`no tool_result for ${String(name)}`);
      if (type === 'server_tool_use' && !own.has(id)) problems.push(`no result for the server tool ${String(name)}`);
      if ((type === 'tool_use' || type === 'server_tool_use') && !isObject(input))
        problems.push('input is not an object');
      if ((type === 'thinking' || type === 'redacted_thinking') && index === messages.length - 1)
        problems.push('ends with thinking');
      if (type === 'tool_result') {
        const before = list(fields(messages[index - 1])['content']);
        if (!before.some((block) => block['id'] === tool_use_id)) problems.push('a tool_result without its tool_use');
      }
    }
  }
  return [...problems, ...alternates(messages)];
}

function findResponsesProblems(body: unknown): string[] {
  const problems: string[] = [];
  const items = list(fields(body)['input']);
  const outputs = new Set(items.filter(({ type }) => String(type).endsWith('_output')).map((item) => item['call_id']));
  const calls = new Set<unknown>();
  for (const { type, id, call_id: callId, name, output, arguments: input, content } of items) {
    if (type === 'item_reference') problems.push(`refers to the item ${String(id)} of another provider`);
    if (type === 'reasoning') problems.push('holds reasoning of another provider');
    if (type === 'function_call') {
      calls.add(callId);
      if (!outputs.has(callId)) problems.push(`no output for ${String(name)}`);
      if (!isObject(parse(input))) problems.push(`arguments of ${String(name)} are not an object`);
    }
    if (String(type).endsWith('_output') && !calls.has(callId)) problems.push('an output without its call');
    if (type === 'function_call_output' && output === undefined) problems.push('an output without a value');
    if (Array.isArray(content) && content.length === 0) problems.push('an empty message');
  }
  return problems;
}

/** Chat completions: also Groq, DeepSeek, Cohere, Mistral. */
function findChatProblems(body: unknown): string[] {
  const problems: string[] = [];
  const messages = list(fields(body)['messages']);
  let open = new Set<unknown>();
  for (const message of messages) {
    const { role, content, tool_calls: toolCalls, tool_call_id: id } = message;
    if (role === 'tool') {
      if (!open.delete(id)) problems.push('a tool message without its call');
      continue;
    }
    if (open.size > 0) problems.push(`a ${String(role)} message precedes the result of a call`);
    open = new Set(list(toolCalls).map((call) => call['id']));
    for (const call of list(toolCalls)) {
      const { name, arguments: input } = fields(call['function']);
      if (!isObject(parse(input))) problems.push(`arguments of ${String(name)} are not an object`);
    }
    const isEmpty = content === undefined || content === null || content === '';
    if (isEmpty && open.size === 0) problems.push(`an empty ${String(role)} message`);
  }
  if (open.size > 0) problems.push('a call has no result');
  return problems;
}

function findMistralProblems(body: unknown): string[] {
  const ids = list(fields(body)['messages']).flatMap((message) =>
    list(message['tool_calls']).map((call) => call['id']),
  );
  const bad = ids.filter((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id)));
  return [...findChatProblems(body), ...bad.map((id) => `the call id ${String(id)} is not 9 letters and digits`)];
}

function findGoogleProblems(body: unknown): string[] {
  const problems: string[] = [];
  const contents = list(fields(body)['contents']);
  for (const [index, content] of contents.entries()) {
    const parts = list(content['parts']);
    if (parts.length === 0) problems.push(`content ${index} is empty`);
    const calls = parts.filter((part) => part['functionCall']).length;
    const next = list(fields(contents[index + 1])['parts']).filter((part) => part['functionResponse']).length;
    if (calls !== next) problems.push(`${calls} function calls and ${next} responses`);
    for (const part of parts) {
      for (const key of ['toolCall', 'toolResponse', 'executableCode', 'codeExecutionResult', 'thoughtSignature'])
        if (part[key] !== undefined) problems.push(`holds ${key} of another provider`);
      const call = fields(part['functionCall']);
      if (part['functionCall'] && call['args'] !== undefined && !isObject(call['args']))
        problems.push('args is not an object');
      const response = fields(part['functionResponse'])['response'];
      if (part['functionResponse'] && !isObject(response)) problems.push('a function response is not an object');
    }
  }
  return problems;
}

function findBedrockProblems(body: unknown): string[] {
  const problems: string[] = [];
  const messages = list(fields(body)['messages']);
  for (const [index, message] of messages.entries()) {
    const blocks = list(message['content']);
    if (blocks.length === 0) problems.push(`message ${index} is empty`);
    const next = list(fields(messages[index + 1])['content']);
    const answered = new Set(next.map((block) => fields(block['toolResult'])['toolUseId']));
    for (const block of blocks) {
      const use = fields(block['toolUse']);
      if (block['toolUse'] && !answered.has(use['toolUseId']))
        problems.push(`no toolResult for ${String(use['name'])}`);
      if (block['toolUse'] && !isObject(use['input'])) problems.push('input is not an object');
      if (typeof block['text'] === 'string' && block['text'].trim() === '') problems.push('an empty text');
      if (block['reasoningContent']) problems.push('holds reasoning of another provider');
    }
  }
  return [...problems, ...alternates(messages)];
}

function alternates(messages: readonly Fields[]): string[] {
  const roles = messages.map(({ role }) => role);
  return roles.some((role, index) => role === roles[index + 1]) ? ['two messages of one role in a row'] : [];
}

function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

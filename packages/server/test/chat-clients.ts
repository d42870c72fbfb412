/** A message of a conversation, as a chat client stores it. */
export type ChatMessage = { role: 'user' | 'assistant'; text: string };

/** Requests of a chat client that sends the whole history and no ids. Shapes of Open WebUI 0.12 and LibreChat's agents 3.9. */
export type ChatClient = {
  name: string;
  path: '/chat/completions' | '/responses';
  ask(model: string, messages: readonly ChatMessage[]): object;
  /** Calls beside the conversation: titles, tags and suggestions. */
  tasks(model: string, messages: readonly ChatMessage[]): object[];
};

const toLines = (messages: readonly ChatMessage[]): string =>
  messages.map(({ role, text }) => `${role.toUpperCase()}: ${text}`).join('\n');

const taskTexts = [
  'Generate a concise title summarizing the chat history.',
  'Predict 3-5 useful messages this user might naturally send next to advance their current objective.',
  'Generate 1-3 broad tags categorizing the main themes of the chat history.',
];
const toTaskPrompts = (messages: readonly ChatMessage[]): string[] =>
  taskTexts.map(
    (text) => `### Task:\n${text}\n### Chat History:\n<chat_history>\n${toLines(messages)}\n</chat_history>`,
  );

/** Open WebUI offers its own tools with every message. */
const timeTool = {
  name: 'get_current_timestamp',
  description: 'Get the current time.',
  parameters: { type: 'object', properties: {}, required: [] },
};

const openWebUI: ChatClient = {
  name: 'Open WebUI',
  path: '/chat/completions',
  ask: (model, messages) => ({
    stream: true,
    model,
    messages: messages.map(({ role, text: content }) => ({ role, content })),
    tools: [{ type: 'function', function: timeTool }],
  }),
  tasks: (model, messages) =>
    toTaskPrompts(messages).map((content, index) => ({
      model,
      messages: [{ role: 'user', content }],
      stream: false,
      ...(index === 0 && { max_tokens: 1000 }),
    })),
};

const toItem = ({ role, text }: ChatMessage): object => {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
};

/** A connection of Open WebUI with the API type "responses". */
const openWebUIResponses: ChatClient = {
  name: 'Open WebUI (Responses)',
  path: '/responses',
  ask: (model, messages) => ({
    stream: true,
    model,
    input: messages.map(toItem),
    tools: [{ type: 'function', ...timeTool, strict: false }],
  }),
  tasks: (model, messages) =>
    toTaskPrompts(messages).map((text, index) => ({
      model,
      input: [toItem({ role: 'user', text })],
      stream: false,
      ...(index === 0 && { max_output_tokens: 1000 }),
    })),
};

const titleSchema = {
  type: 'object',
  properties: { language: { type: 'string' }, title: { type: 'string' } },
  required: ['language', 'title'],
};

const libreChat: ChatClient = {
  name: 'LibreChat',
  path: '/chat/completions',
  ask: (model, messages) => ({
    model,
    user: '65f0c0ffee65f0c0ffee65f0',
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: 'system', content: `You are helpful. The time is ${new Date().toISOString()}.` },
      // Answers are stored as lists of parts.
      ...messages.map(({ role, text }) => ({
        role,
        content: role === 'assistant' ? [{ type: 'text', text }] : text,
      })),
    ],
  }),
  tasks(model, messages) {
    const convo = messages.map(({ role, text }) => `${role === 'user' ? 'User' : 'AI'}: ${text}`).join('\n');
    const completion =
      'Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.';
    const structured = 'Analyze this conversation and provide:\n1. The detected language of the conversation';
    return [
      { model, stream: false, messages: [{ role: 'user', content: `${completion}\n\nConversation:\n${convo}` }] },
      {
        model,
        stream: false,
        messages: [{ role: 'user', content: `${structured}\n\n${convo}` }],
        response_format: { type: 'json_schema', json_schema: { name: 'extract', schema: titleSchema } },
      },
      {
        model,
        stream: false,
        messages: [{ role: 'user', content: `${structured}\n\n${convo}` }],
        tools: [{ type: 'function', function: { name: 'extract', parameters: titleSchema } }],
        tool_choice: { type: 'function', function: { name: 'extract' } },
      },
    ];
  },
};

export const chatClients: readonly ChatClient[] = [openWebUI, openWebUIResponses, libreChat];

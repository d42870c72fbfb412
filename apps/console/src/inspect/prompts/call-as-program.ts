import type { Json, JsonObject } from '@intertie/core';
import type { ModelCallInfo } from '../../api.ts';

/** Packages of providers, with the name of their provider function. Other models are called through the AI Gateway. */
const packages: { readonly [provider: string]: { name: string; from: string } } = {
  anthropic: { name: 'anthropic', from: '@ai-sdk/anthropic' },
  openai: { name: 'openai', from: '@ai-sdk/openai' },
  google: { name: 'google', from: '@ai-sdk/google' },
  mistral: { name: 'mistral', from: '@ai-sdk/mistral' },
  xai: { name: 'xai', from: '@ai-sdk/xai' },
};

/** Creates a program that repeats a model call with the AI SDK. Tools have no implementation, so their calls are printed. */
export function createCallProgram(call: ModelCallInfo): string {
  const [provider = ''] = call.provider.split('.');
  const known = Object.hasOwn(packages, provider) ? packages[provider] : undefined;
  const model = known ? `${known.name}(${JSON.stringify(call.model)})` : JSON.stringify(`${provider}/${call.model}`);
  const tools = call.tools.flatMap((tool) => {
    const { type, name, description, inputSchema } = asObject(tool);
    if (type !== undefined && type !== 'function') return [];
    const fields = [
      ...(description === undefined ? [] : [`description: ${JSON.stringify(description)}`]),
      `inputSchema: jsonSchema(${JSON.stringify(inputSchema ?? { type: 'object' })})`,
    ];
    return [`    ${JSON.stringify(name)}: tool({ ${fields.join(', ')} }),`];
  });
  const settings = Object.entries(call.settings).flatMap(([name, value]) => {
    if (name === 'responseFormat') return [];
    if (name === 'toolChoice') return [`  toolChoice: ${JSON.stringify(toToolChoice(value))},`];
    return [`  ${name}: ${JSON.stringify(value)},`];
  });
  return [
    `import { generateText${tools.length > 0 ? ', jsonSchema, tool' : ''} } from 'ai';`,
    ...(known ? [`import { ${known.name} } from '${known.from}';`] : []),
    '',
    'const result = await generateText({',
    `  model: ${model},`,
    '  allowSystemInMessages: true,',
    '  messages: [',
    ...call.prompt.map((message) => `    ${JSON.stringify(message)},`),
    '  ],',
    ...(tools.length > 0 ? ['  tools: {', ...tools, '  },'] : []),
    ...settings,
    '});',
    'console.log(result.text, result.toolCalls, result.usage);',
    '',
  ].join('\n');
}

/** The provider interface writes `{ type: 'auto' }` where `generateText` expects `'auto'`. */
function toToolChoice(value: Json): Json {
  const { type } = asObject(value);
  return type === undefined || type === 'tool' ? value : type;
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

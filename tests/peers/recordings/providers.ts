import { crc32 } from 'node:zlib';

import type { LanguageModel, ToolSet } from 'ai';
import { tool } from 'ai';
import { z } from 'zod';

export type Major = 6 | 7;

/** Creates a model whose requests go to `fetch`. */
export type CreateModel = (fetch: typeof globalThis.fetch) => LanguageModel;

type Factory = (settings: { [key: string]: unknown }) => Provider;
type Provider = { [method: string]: unknown };
type Namespace = { [name: string]: unknown };

/** A provider package and the wire format of its recordings. */
type Api = {
  package: string;
  /** The package for ai 7 does not have this API. The package for ai 6 is used instead, whose models ai 7 accepts. */
  isRemoved?: boolean;
  /** Name of the exported factory, by major. */
  create: { 6: string; 7: string };
  settings?: { [key: string]: unknown };
  /** Method of the provider that creates the model. Default: `languageModel`. */
  method?: string;
  model: string;
  frame?: (line: string) => string | Uint8Array;
  /** The package generates call ids; they are replaced by a counter, so that two replays are equal. */
  generatesIds?: boolean;
};

const same = (name: string): Api['create'] => ({ 6: name, 7: name });

const apis = {
  alibaba: { package: 'alibaba', create: same('createAlibaba'), model: 'qwen3-max' },
  'amazon-bedrock': {
    package: 'amazon-bedrock',
    create: same('createAmazonBedrock'),
    settings: { region: 'us-east-1', apiKey: 'none' },
    model: 'us.amazon.nova-pro-v1:0',
    frame: toAwsFrame,
  },
  anthropic: { package: 'anthropic', create: same('createAnthropic'), model: 'claude-sonnet-4-5' },
  azure: {
    package: 'azure',
    create: same('createAzure'),
    settings: { resourceName: 'none' },
    method: 'responses',
    model: 'gpt-5-mini',
  },
  cohere: {
    package: 'cohere',
    create: same('createCohere'),
    model: 'command-a-reasoning',
    frame: (line) => `event: ${(JSON.parse(line) as { type: string }).type}\ndata: ${line}\n\n`,
  },
  deepseek: { package: 'deepseek', create: same('createDeepSeek'), model: 'deepseek-reasoner' },
  google: {
    package: 'google',
    create: { 6: 'createGoogleGenerativeAI', 7: 'createGoogle' },
    model: 'gemini-2.5-flash',
    generatesIds: true,
  },
  'google interactions': {
    package: 'google',
    create: { 6: 'createGoogleGenerativeAI', 7: 'createGoogle' },
    method: 'interactions',
    model: 'gemini-2.5-flash',
  },
  groq: { package: 'groq', create: same('createGroq'), model: 'qwen3-32b' },
  mistral: { package: 'mistral', create: same('createMistral'), model: 'magistral-medium-latest' },
  moonshotai: { package: 'moonshotai', create: same('createMoonshotAI'), model: 'kimi-k2' },
  'open-responses': {
    package: 'open-responses',
    create: same('createOpenResponses'),
    settings: { url: 'https://responses.invalid/v1/responses', name: 'local' },
    model: 'gemma',
  },
  'openai chat': { package: 'openai', create: same('createOpenAI'), method: 'chat', model: 'gpt-4.1' },
  'openai completion': {
    package: 'openai',
    create: same('createOpenAI'),
    method: 'completion',
    model: 'gpt-3.5-turbo-instruct',
  },
  'openai responses': { package: 'openai', create: same('createOpenAI'), method: 'responses', model: 'gpt-5-mini' },
  'openai-compatible': {
    package: 'openai-compatible',
    create: same('createOpenAICompatible'),
    settings: { baseURL: 'https://compatible.invalid/v1', name: 'compatible' },
    method: 'chatModel',
    model: 'any',
  },
  perplexity: { package: 'perplexity', create: same('createPerplexity'), model: 'sonar' },
  'xai chat': { package: 'xai', isRemoved: true, create: same('createXai'), method: 'chat', model: 'grok-4' },
  'xai responses': { package: 'xai', create: same('createXai'), method: 'responses', model: 'grok-4' },
} as const satisfies { [name: string]: Api };

export type ApiName = keyof typeof apis;

/** Finds the API of a recording by its path, which follows the layout of `vercel/ai`. */
export function findApi(path: string): ApiName | undefined {
  const folders = path.split('/');
  if (folders.includes('speech-translation')) return undefined;
  const inside = (name: string): boolean => folders.includes(name);
  for (const name of ['openai', 'xai'] as const) {
    if (!inside(name)) continue;
    if (inside('responses')) return `${name} responses`;
    return name === 'openai' && inside('completion') ? 'openai completion' : `${name} chat`;
  }
  if (inside('google') && inside('interactions')) return 'google interactions';
  return (Object.keys(apis) as ApiName[]).find((name) => inside(name));
}

/** Encodes the lines of a recording as the bytes that the provider would send. */
export function toBody(name: ApiName, lines: readonly string[]): Uint8Array {
  const { frame = (line: string) => `data: ${line}\n\n` }: Api = apis[name];
  const encoder = new TextEncoder();
  const frames = lines.map((line) => {
    const bytes = frame(line);
    return typeof bytes === 'string' ? encoder.encode(bytes) : bytes;
  });
  return Buffer.concat(frames);
}

export async function loadProvider(name: ApiName, major: Major): Promise<(fetch: typeof globalThis.fetch) => Provider> {
  const api: Api = apis[name];
  const suffix = major === 7 && api.isRemoved !== true ? '-7' : '';
  const module = (await import(`@ai-sdk/${api.package}${suffix}`)) as { [name: string]: Factory };
  const factory = module[api.create[major]];
  if (factory === undefined) throw new Error(`@ai-sdk/${api.package}${suffix} does not export ${api.create[major]}.`);
  return (fetch) => {
    let count = 0;
    const generateId = (): string => `generated_${(count += 1)}`;
    const ids = api.generatesIds === true ? { generateId } : {};
    return factory({ apiKey: 'none', ...api.settings, ...ids, fetch });
  };
}

export function createModel(name: ApiName, provider: Provider): LanguageModel {
  const { method = 'languageModel', model }: Api = apis[name];
  return (provider[method] as (id: string) => LanguageModel)(model);
}

const done = { type: 'exit', exitCode: 0 };
const shellOutput = { output: [{ stdout: 'ok', stderr: '', outcome: done }] };

/** Settings of provider tools, and results for those that run locally, by the tool name in the provider's stream. */
const providerTools: { [name: string]: { factories: string[]; settings?: object; output?: object } } = {
  web_search: { factories: ['webSearch', 'webSearch_20260209', 'webSearch_20250305'] },
  web_search_preview: { factories: ['webSearchPreview'] },
  web_fetch: { factories: ['webFetch_20260209', 'webFetch_20250910'] },
  x_search: { factories: ['xSearch'] },
  code_execution: { factories: ['codeExecution_20260120', 'codeExecution_20250825', 'codeExecution'] },
  code_interpreter: { factories: ['codeInterpreter'] },
  file_search: { factories: ['fileSearch'], settings: { vectorStoreIds: ['vs_1'] } },
  image_generation: { factories: ['imageGeneration'] },
  google_search: { factories: ['googleSearch'] },
  advisor: { factories: ['advisor_20260301'], settings: { model: 'claude-opus-4-5' } },
  tool_search_tool_regex: { factories: ['toolSearchRegex_20251119'] },
  tool_search_tool_bm25: { factories: ['toolSearchBm25_20251119'] },
  write_sql: { factories: ['customTool'], settings: { name: 'write_sql', description: 'SQL' }, output: { rows: 1 } },
  shell: { factories: ['shell'], output: shellOutput },
  'hosted shell': { factories: ['shell'], settings: { environment: { type: 'containerAuto' } } },
  local_shell: { factories: ['localShell'], output: { output: 'ok' } },
  apply_patch: { factories: ['applyPatch'], output: { status: 'completed', output: 'ok' } },
  tool_search: { factories: ['toolSearch'], output: { tools: [] } },
};

type SeenCall = { toolName: string; providerExecuted: boolean; hasResult: boolean };

/** Creates tools for the calls of a recording: the provider's own if it has them, or else a function that accepts any input. */
export function toolsFor(calls: readonly SeenCall[], provider: Provider): ToolSet {
  const own = (provider['tools'] ?? {}) as Namespace;
  const tools: ToolSet = {};
  for (const { toolName, providerExecuted, hasResult } of calls) {
    const known = toolName === 'shell' && hasResult ? 'hosted shell' : toolName;
    const { factories, settings = {}, output } = providerTools[known] ?? { factories: [] };
    const name = factories.find((factory) => typeof own[factory] === 'function');
    const execute = providerExecuted || hasResult ? {} : { execute: async () => output ?? { ok: true } };
    if (name !== undefined) {
      tools[toolName] = (own[name] as (settings: object) => ToolSet[string])({ ...settings, ...execute });
    } else if (!providerExecuted && !hasResult) {
      tools[toolName] = tool({ inputSchema: z.any(), ...execute } as never) as ToolSet[string];
    }
  }
  return tools;
}

/** Tools that every provider accepts. */
export function functionTools(tools: ToolSet): ToolSet {
  return Object.fromEntries(Object.entries(tools).filter(([, { type }]) => type === undefined || type === 'function'));
}

/** Encodes one message of the AWS event stream format: prelude, headers and payload, with checksums. */
function toAwsFrame(line: string): Uint8Array {
  const [[type, payload]] = Object.entries(JSON.parse(line) as { [type: string]: unknown }) as [[string, unknown]];
  const headers = Buffer.concat(
    Object.entries({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }).map(
      ([name, value]) => {
        const size = Buffer.alloc(3);
        size.writeUInt8(7, 0);
        size.writeUInt16BE(value.length, 1);
        return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), size, Buffer.from(value)]);
      },
    ),
  );
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(message), 0);
  return Buffer.concat([message, checksum]);
}

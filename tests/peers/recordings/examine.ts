import { isDeepStrictEqual } from 'node:util';

import { agUi, createAGUIEncoder } from '@intertie/ag-ui';
import {
  createUIMessageEncoder,
  createUIMessageStreamProtocol,
  modelMessages,
  toAiSdkMessages,
  toUIMessages,
} from '@intertie/ai-sdk';
import { canonical, check, type CheckReport } from '@intertie/conformance';
import {
  createInMemoryStore,
  decodeMessage,
  encodeMessage,
  foldEvents,
  transcode,
  unfold,
  type AgentEvent,
  type CanonicalMessage,
} from '@intertie/core';
import * as ai6 from 'ai';
import * as ai7 from 'ai-7';
import type { ToolSet, UIMessage } from 'ai';

import { refusals } from '../../../packages/ai-sdk/test/request-rules.ts';

import { functionTools, toBody, type ApiName, type Major } from './providers.ts';
import { replay, runSource, sdkMessages, sdkRequest, sourceRequest, createTools, userMessage } from './replay.ts';

export type Recording = { path: string; api: ApiName; lines: readonly string[] };

export const checks = ['canonical', 'store', 'same provider', 'other provider', 'UI', 'AG-UI', 'faults'] as const;

/** Result of a check on a recording. */
export type Finding = { check: (typeof checks)[number]; detail: string };

type Target = keyof typeof refusals;

const opening = userMessage('user-1', 'Begin.');
const followUp = (parentId: string): CanonicalMessage => userMessage('user-2', 'Continue.', parentId);

/** Runs all checks over one recording, on one major of `ai`. */
export async function examine({ api, lines }: Recording, major: Major): Promise<Finding[]> {
  const findings: Finding[] = [];
  const found = (name: Finding['check'], detail: string): void => void findings.push({ check: name, detail });
  const guarded = async (name: Finding['check'], run: () => Promise<string[]>): Promise<void> => {
    try {
      for (const detail of await run()) found(name, detail);
    } catch (error) {
      found(name, error instanceof Error ? error.message : String(error));
    }
  };

  const body = toBody(api, lines);
  const tools = await createTools(api, major, lines);
  const { events, message } = await runSource(major, await replay(api, major, { body }), tools, [opening]);
  for (const detail of violations(check(canonical, events))) found('canonical', detail);
  await guarded('store', () => checkStore(message));
  await guarded('same provider', () => checkSameProvider(api, major, body, tools, message));
  for (const target of Object.keys(refusals) as Target[]) {
    if (target !== api) await guarded('other provider', () => checkOtherProvider(target, major, tools, message));
  }
  await guarded('UI', () => checkUI(major, events, message));
  await guarded('AG-UI', async () => {
    const encoder = createAGUIEncoder({ protocolVersion: '1.0' });
    return violations(check(agUi, transcode(encoder, events)));
  });
  await guarded('faults', () => checkFaults(api, major, lines, tools));
  return findings;
}

async function checkStore(message: CanonicalMessage): Promise<string[]> {
  const problems: string[] = [];
  const json: unknown = JSON.parse(JSON.stringify(encodeMessage(message)));
  if (!isDeepStrictEqual(decodeMessage(json), message)) problems.push('differs after JSON');
  if (!isDeepStrictEqual(foldEvents(unfold(message)), message)) problems.push('differs after unfold and fold');
  const store = createInMemoryStore();
  const { parentId: _, ...root } = message;
  await store.saveMessages({ messages: [root] });
  const { parentId: __, ...read } = (await store.getMessage({ threadId: message.threadId, messageId: message.id }))!;
  if (!isDeepStrictEqual(read, root)) problems.push('differs after the store');
  await store.close();
  return problems;
}

async function checkSameProvider(
  api: ApiName,
  major: Major,
  body: Uint8Array,
  tools: ToolSet,
  message: CanonicalMessage,
): Promise<string[]> {
  const attempt = async (run: () => Promise<unknown>): Promise<unknown> =>
    run().catch((error: unknown) => ({ thrown: error instanceof Error ? error.message : String(error) }));
  const user = (content: string): ai6.ModelMessage => ({ role: 'user', content });
  const expected = await attempt(async () => {
    const sent = await sdkMessages(major, await replay(api, major, { body }), tools);
    return sdkRequest(major, await replay(api, major, {}), [user('Begin.'), ...sent, user('Continue.')], tools);
  });
  const actual = await attempt(async () =>
    sourceRequest(major, await replay(api, major, {}), tools, [opening, message, followUp(message.id)]),
  );
  const difference = firstDifference(expected, actual);
  const isRepeated = difference.length > 0 && firstDifference(withoutRepeats(expected), actual).length === 0;
  return isRepeated ? [`the AI SDK repeats what is sent once, and nothing else differs: ${difference[0]}`] : difference;
}

/** Removes array elements that equal the element before them. */
function withoutRepeats(value: unknown): unknown {
  if (Array.isArray(value)) {
    const elements: unknown[] = value.map(withoutRepeats);
    return elements.filter((element, index) => index === 0 || !isDeepStrictEqual(element, elements[index - 1]));
  }
  if (!isContainer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withoutRepeats(field)]));
}

async function checkOtherProvider(
  api: Target,
  major: Major,
  tools: ToolSet,
  message: CanonicalMessage,
): Promise<string[]> {
  const replayed = await replay(api, major, {});
  const history = [opening, message, followUp(message.id)];
  const provider = (replayed.model as { provider: string }).provider;
  const messages = toAiSdkMessages(history, { provider, version: major });
  const problems = violations(check(modelMessages, messages));
  try {
    problems.push(...refusals[api](await sourceRequest(major, replayed, functionTools(tools), history)));
  } catch (error) {
    problems.push(`throws: ${error instanceof Error ? error.message : String(error)}`);
  }
  return problems.map((problem) => `${api}: ${problem}`);
}

async function checkUI(major: Major, events: readonly AgentEvent[], message: CanonicalMessage): Promise<string[]> {
  const chunks = transcode(createUIMessageEncoder({ version: major }), events);
  const problems = violations(check(createUIMessageStreamProtocol({ version: major }), chunks));
  const live = await reduce(major, chunks);
  const [reloaded] = toUIMessages([message], { version: major });
  const parts = (shown: UIMessage | undefined): unknown => JSON.parse(JSON.stringify(shown?.parts ?? []));
  return [...problems, ...firstDifference(parts(live), parts(reloaded)).map((at) => `live and reloaded: ${at}`)];
}

async function reduce(major: Major, chunks: readonly unknown[]): Promise<UIMessage | undefined> {
  const stream = new ReadableStream<never>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk as never);
      controller.close();
    },
  });
  const read =
    major === 6 ? ai6.readUIMessageStream : (ai7.readUIMessageStream as unknown as typeof ai6.readUIMessageStream);
  let last: UIMessage | undefined;
  for await (const snapshot of read({ stream, onError: () => undefined })) last = snapshot;
  return last;
}

/** Last line of a response of Anthropic or OpenAI. */
const responseEnd = /"stop_reason":\s*"|"type":\s*"response\.(?:completed|incomplete|failed)"/;

/** Checks that a run with a damaged stream ends once, with an error, and that its message can still be sent. */
async function checkFaults(api: ApiName, major: Major, lines: readonly string[], tools: ToolSet): Promise<string[]> {
  // Some recordings have several responses. A stream that ends after the first one is complete.
  const firstEnd = lines.findIndex((line) => responseEnd.test(line));
  const half = Math.ceil(lines.length / 2);
  const cutAt = firstEnd > 0 ? Math.min(half, firstEnd) : half;
  const body = toBody(api, lines);
  const spoilt = new TextEncoder().encode('data: {"spoilt\n\n');
  const before = toBody(api, lines.slice(0, cutAt));
  const faults = {
    cut: { body: before },
    empty: { body: new Uint8Array() },
    'HTTP 529': { status: 529 },
    spoilt: { body: Buffer.concat([before, spoilt, body.subarray(before.length)]) },
  };
  const problems: string[] = [];
  for (const [fault, answer] of Object.entries(faults)) {
    const { events, message, end } = await runSource(major, await replay(api, major, answer), tools, [opening]);
    const report = violations(check(canonical, events));
    if (fault !== 'spoilt' && end.outcome !== 'error') report.push(`ends as ${end.outcome}`);
    try {
      const next = await replay(api, major, {});
      await sourceRequest(major, next, tools, [opening, message, followUp(message.id)]);
    } catch (error) {
      report.push(`cannot continue: ${error instanceof Error ? error.message : String(error)}`);
    }
    problems.push(...report.map((problem) => `${fault}: ${problem}`));
  }
  return problems;
}

function violations({ violations: all }: CheckReport): string[] {
  return all.map(({ rule, message }) => `${rule}: ${message}`);
}

/** Finds the first difference between two JSON values, and returns its path and both values. */
function firstDifference(expected: unknown, actual: unknown, path = ''): string[] {
  if (isDeepStrictEqual(expected, actual)) return [];
  if (isContainer(expected) && isContainer(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    for (const key of keys) {
      const difference = firstDifference(expected[key], actual[key], `${path}.${key}`);
      if (difference.length > 0) return difference;
    }
  }
  const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300);
  return [`${path} is ${shown(actual)} instead of ${shown(expected)}`];
}

function isContainer(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

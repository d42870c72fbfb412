import type { Usage } from '@intertie/core';
import { toJson } from '@intertie/core';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';

/** Converts the usage of an agent. Usage of one model is attributed to it; usage of several is only separated in `raw`. */
export function toUsage(event: Extract<RuntimeEvent, { type: 'agent:complete' }>): Usage[] | undefined {
  const { usage: reported, modelUsage, totalCostUsd } = event;
  const models = isObject(modelUsage) ? Object.keys(modelUsage) : [];
  const usage: Usage = {};
  if (models.length === 1) usage.model = models[0] as string;
  if (isObject(reported)) {
    setCount(usage, 'inputTokens', reported.inputTokens);
    setCount(usage, 'outputTokens', reported.outputTokens);
    setCount(usage, 'cacheReadTokens', reported.cacheReadInputTokens);
    setCount(usage, 'cacheWriteTokens', reported.cacheCreationInputTokens);
  }
  setCount(usage, 'costUsd', totalCostUsd);
  if (models.length > 1) usage.raw = toJson(modelUsage);
  return Object.keys(usage).length > 0 ? [usage] : undefined;
}

type Count = 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'costUsd';
const counts: readonly Count[] = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'costUsd'];

/** Adds usage to the totals per model. */
export function addUsage(total: Usage[], added: readonly Usage[]): void {
  for (const { raw: _, ...usage } of added) {
    const same = total.find(({ model }) => model === usage.model);
    if (same === undefined) total.push(usage);
    else for (const key of counts) if (usage[key] !== undefined) same[key] = (same[key] ?? 0) + usage[key];
  }
}

function setCount(usage: Usage, key: Count, value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value)) usage[key] = value;
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

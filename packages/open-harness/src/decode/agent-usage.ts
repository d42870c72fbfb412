import type { Usage } from '@intertie/core';
import { toJson } from '@intertie/core/internal';
import type { RuntimeEvent } from '../runtime/runtime-event.ts';

/** What an agent consumed. If it used one model, it is that model's; several are told apart in `raw`. */
export function toUsage(event: Extract<RuntimeEvent, { type: 'agent:complete' }>): Usage[] | undefined {
  const { usage: said, modelUsage, totalCostUsd } = event;
  const models = isObject(modelUsage) ? Object.keys(modelUsage) : [];
  const usage: Usage = {};
  if (models.length === 1) usage.model = models[0] as string;
  if (isObject(said)) {
    take(usage, 'inputTokens', said.inputTokens);
    take(usage, 'outputTokens', said.outputTokens);
    take(usage, 'cacheReadTokens', said.cacheReadInputTokens);
    take(usage, 'cacheWriteTokens', said.cacheCreationInputTokens);
  }
  take(usage, 'costUsd', totalCostUsd);
  if (models.length > 1) usage.raw = toJson(modelUsage);
  return Object.keys(usage).length > 0 ? [usage] : undefined;
}

type Count = 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'costUsd';
const counts: readonly Count[] = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'costUsd'];

/** The sum, per model. */
export function addUsage(total: Usage[], more: readonly Usage[]): void {
  for (const { raw: _, ...usage } of more) {
    const same = total.find(({ model }) => model === usage.model);
    if (same === undefined) total.push(usage);
    else for (const key of counts) if (usage[key] !== undefined) same[key] = (same[key] ?? 0) + usage[key];
  }
}

function take(usage: Usage, key: Count, value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value)) usage[key] = value;
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null;
}

import type { Complain } from './ag-ui-rules.ts';
import { asFields, asNonEmptyText } from '../shared/read-fields.ts';

/** One entry for each model; what is a part of something is not more than that. */
export function checkUsage(usage: unknown, complain: Complain): void {
  const models = new Set<string>();
  for (const used of Array.isArray(usage) ? usage.map(asFields) : []) {
    const model = JSON.stringify([asNonEmptyText(used.provider), asNonEmptyText(used.model)]);
    if (models.has(model)) complain('usage', `${model} is there twice.`);
    models.add(model);
    const { inputTokens: input, outputTokens: output, totalTokens: total } = used;
    if (isMore(used.cachedInputTokens, input) || isMore(used.cacheWriteInputTokens, input))
      complain('usage', 'More input is cached than there is.');
    if (isMore(used.reasoningTokens, output)) complain('usage', 'More is reasoning than there is output.');
    if (isNumber(input) && isNumber(output) && isNumber(total) && total !== input + output)
      complain('usage', 'The total is not input and output.');
  }
}

function isMore(part: unknown, whole: unknown): boolean {
  return isNumber(part) && isNumber(whole) && part > whole;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

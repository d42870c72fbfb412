import type { Dialect } from '@intertie/core';
import { isEventType } from '@intertie/core/internal';
import { CanonicalChecker } from './canonical-checker.ts';
import { canonicalRules } from '../rules/canonical-rules.ts';

/** Intertie's own event stream as a dialect: one run, from `run-start` to `run-end`. */
export const canonical: Dialect = {
  name: 'canonical',
  rules: canonicalRules,
  detect: (item) => isEventType(getType(item)),
  getKind: (item) => {
    const type = getType(item);
    return typeof type === 'string' ? type : 'no event';
  },
  checker: () => new CanonicalChecker(),
};

function getType(item: unknown): unknown {
  return typeof item === 'object' && item !== null ? (item as { type?: unknown }).type : undefined;
}

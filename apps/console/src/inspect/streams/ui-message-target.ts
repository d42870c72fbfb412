import { createUIMessageEncoder, createUIMessageStreamDialect } from '@intertie/ai-sdk';
import type { Target } from './target.ts';

export const uiMessageTarget = (version: 6 | 7): Target => ({
  id: version === 7 ? 'ui-7' : 'ui-6',
  dialect: createUIMessageStreamDialect({ version }),
  // A reader of this column has seen nothing before, so what is continued is told again.
  encoder: ({ internal, onLoss }) =>
    createUIMessageEncoder({ version, baseline: 'restate', includeInternal: internal, onLoss }),
});

import { createUIMessageEncoder, createUIMessageStreamProtocol } from '@intertie/ai-sdk';
import type { Target } from './target.ts';

export const createUIMessageTarget = (version: 6 | 7): Target => ({
  id: version === 7 ? 'ui-7' : 'ui-6',
  protocol: createUIMessageStreamProtocol({ version }),
  // The column starts without a message, so a continued message must be sent completely.
  encoder: ({ internal, onLoss }) =>
    createUIMessageEncoder({ version, baseline: 'restate', includeInternal: internal, onLoss }),
});

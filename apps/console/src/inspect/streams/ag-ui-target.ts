import { agUi, createAGUIEncoder } from '@intertie/ag-ui';
import type { Target } from './target.ts';

export const agUiTarget: Target = {
  id: 'ag-ui',
  protocol: agUi,
  encoder: ({ internal, onLoss }) => createAGUIEncoder({ protocolVersion: '1.0', sendInternal: internal, onLoss }),
};

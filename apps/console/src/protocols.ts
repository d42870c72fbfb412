import { uiMessageStreamFormat } from '@intertie/ai-sdk';
import type { Protocol } from '@intertie/core';

/** Format that the console encodes a run to. */
export type Format = { name: string; label: string; load: () => Promise<Protocol> };

/** Format of the first view. The others are loaded when they are selected. */
export const defaultFormat: Protocol = uiMessageStreamFormat;

/** Other formats. A new one is one line here. */
export const otherFormats: readonly Format[] = [
  { name: 'ag-ui', label: 'AG-UI 1.0', load: async () => (await import('@intertie/ag-ui')).agUiFormat },
];

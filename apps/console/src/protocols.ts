import { agUiFormat } from '@intertie/ag-ui';
import { uiMessageStreamFormat } from '@intertie/ai-sdk';
import type { Protocol } from '@intertie/core';

/** Formats that the console encodes runs to. A new one is one line here. */
export const formats: readonly Protocol[] = [uiMessageStreamFormat, agUiFormat];

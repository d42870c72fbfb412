import { agUi } from '@intertie/ag-ui';
import { uiMessageStream } from '@intertie/ai-sdk';
import type { Protocol } from '@intertie/core';

/** Protocols that the console encodes runs to and reads tapes of. A new one is one line here. */
export const protocols: readonly Protocol[] = [uiMessageStream, agUi];

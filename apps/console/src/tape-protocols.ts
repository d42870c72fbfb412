import { agUi } from '@intertie/ag-ui';
import { uiMessageStream } from '@intertie/ai-sdk';
import type { Protocol } from '@intertie/core';

/** Protocols that the console reads tapes of. Loaded when a tape is opened, because decoders are large. */
export const tapeProtocols: readonly Protocol[] = [uiMessageStream, agUi];

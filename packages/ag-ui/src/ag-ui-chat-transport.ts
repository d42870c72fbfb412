import { SourceChatTransport, type SourceChatTransportOptions, type UIMessageVersion } from '@intertie/ai-sdk';
import { agUiSource, type AGUISourceOptions } from './ag-ui-source.ts';

export type AGUIChatTransportOptions<Version extends UIMessageVersion = UIMessageVersion> = AGUISourceOptions &
  SourceChatTransportOptions<Version>;

/**
 * An AG-UI agent behind `useChat`: its texts, reasoning and tools are the parts of a message, its interrupts are approvals or
 * questions, its state and activities are data parts. Tools that the page runs are given by `prepare`.
 */
export class AGUIChatTransport<Version extends UIMessageVersion = 6> extends SourceChatTransport<Version> {
  constructor(options: AGUIChatTransportOptions<Version>) {
    super(agUiSource(options), options);
  }
}

import { IntertieChatTransport } from '@intertie/ai-sdk';
import type { ChatTransport, UIMessage } from 'ai';
import { api } from '../../api.ts';
import { mergeDeltas } from './merge-deltas.ts';

/** Transport that sends each request to the selected agent, which can change within a thread. */
export class AgentTransport implements ChatTransport<UIMessage> {
  #getAgent: () => string | undefined;
  #fetch: typeof fetch;
  #transports = new Map<string, IntertieChatTransport>();

  constructor(getAgent: () => string | undefined, send: typeof fetch) {
    this.#getAgent = getAgent;
    this.#fetch = send;
  }

  /** `Chat` reads this before it resumes; the inner transport must see the read. */
  get resumeStreamIsReplay(): boolean {
    return this.#current.resumeStreamIsReplay;
  }

  sendMessages: ChatTransport<UIMessage>['sendMessages'] = async (options) =>
    mergeDeltas(await this.#current.sendMessages(options));

  reconnectToStream: ChatTransport<UIMessage>['reconnectToStream'] = async (options) => {
    const chunks = await this.#current.reconnectToStream(options);
    return chunks && mergeDeltas(chunks);
  };

  get #current(): IntertieChatTransport {
    const agent = this.#getAgent();
    const url = agent === undefined ? '/api/chat' : api.urls.chat(agent);
    let transport = this.#transports.get(url);
    if (transport === undefined) {
      // A stream that yields its slot to other tabs while the run is silent looks like a stream that fails repeatedly.
      transport = new IntertieChatTransport({ api: url, fetch: this.#fetch, maxReconnects: 10 });
      this.#transports.set(url, transport);
    }
    return transport;
  }
}

import { IntertieChatTransport } from '@intertie/ai-sdk';
import type { ChatTransport, UIMessage } from 'ai';
import { api } from '../api.ts';
import { mergeDeltas } from './merge-deltas.ts';

/** A transport to whichever agent answers next: in one thread, different agents may. */
export class AgentTransport implements ChatTransport<UIMessage> {
  #agentOf: () => string | undefined;
  #fetch: typeof fetch;
  #transports = new Map<string, IntertieChatTransport>();

  constructor(agentOf: () => string | undefined, send: typeof fetch) {
    this.#agentOf = agentOf;
    this.#fetch = send;
  }

  /** A chat asks this; the transport below needs to know that it did. */
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
    const agent = this.#agentOf();
    const url = agent === undefined ? '/api/chat' : api.urls.chat(agent);
    let transport = this.#transports.get(url);
    if (transport === undefined) {
      // A stream that makes room for other tabs while nothing is said looks like one that breaks off again and again.
      transport = new IntertieChatTransport({ api: url, fetch: this.#fetch, maxReconnects: 10 });
      this.#transports.set(url, transport);
    }
    return transport;
  }
}

import type { AgentCard } from '@a2a-js/sdk';
import type { Client, RequestOptions } from '@a2a-js/sdk/client';
import { retryRequest } from '@intertie/core/internal';
import { eventsExtension } from '../shared/extension.ts';

export interface A2AConnectionOptions {
  /** URL of the agent, below which its card is, or URL of the card (`….json`). */
  url: string;
  /** Headers of every request, for example credentials. They are sent to the host of `url` only. */
  headers?: Record<string, string>;
  /** Default: `fetch` of the platform. */
  fetch?: typeof globalThis.fetch;
  /** Preferred binding, if the agent has several. Default: the first on its card. */
  transport?: 'JSONRPC' | 'HTTP+JSON';
}

export type A2AConnection = {
  client: Client;
  card: AgentCard;
  /** Whether the agent sends events that A2A has no place for. */
  hasExtension: boolean;
  /** Options of each request. */
  toOptions: (signal: AbortSignal) => RequestOptions;
};

/** Reads the card of the agent. With `isResumed`, an agent that is being restarted is asked again for some seconds. */
export type Connect = (isResumed?: boolean) => Promise<A2AConnection>;

/** Returns a function that reads the card once and creates the SDK's client. A failure is not remembered. */
export function createConnection(options: A2AConnectionOptions): Connect {
  let connection: Promise<A2AConnection> | undefined;
  return (isResumed = false) => {
    connection ??= connect(options, isResumed).catch((error: unknown) => {
      connection = undefined;
      throw error;
    });
    return connection;
  };
}

async function connect(
  { url, headers = {}, fetch = globalThis.fetch, transport }: A2AConnectionOptions,
  isResumed: boolean,
): Promise<A2AConnection> {
  // Loaded on demand, so that a program which only encodes or serves does not load the client.
  const sdk = await import('@a2a-js/sdk/client');
  const { origin } = new URL(url);
  const fetchImpl: typeof globalThis.fetch = (input, init) => {
    const target = new URL(input instanceof Request ? input.url : input);
    if (target.origin !== origin) return fetch(input, init);
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(input, { ...init, headers: all });
  };
  const isCard = new URL(url).pathname.endsWith('.json');
  // Without a signal, because runs share the connection.
  const fetchCard: typeof globalThis.fetch = (...request) => {
    const send = (): Promise<Response> => fetchImpl(...request);
    return isResumed ? retryRequest(send) : send();
  };
  const resolver = new sdk.DefaultAgentCardResolver({ fetchImpl: fetchCard });
  const card = isCard ? await resolver.resolve(url, '') : await resolver.resolve(url.replace(/\/*$/, '/'));
  const factory = new sdk.ClientFactory({
    transports: [new sdk.JsonRpcTransportFactory({ fetchImpl }), new sdk.RestTransportFactory({ fetchImpl })],
    ...(transport && { preferredTransports: [transport] }),
  });
  const client = await factory.createFromAgentCard(card);
  const hasExtension = card.capabilities?.extensions?.some(({ uri }) => uri === eventsExtension) ?? false;
  const serviceParameters = hasExtension
    ? sdk.ServiceParameters.create(sdk.withA2AExtensions(eventsExtension))
    : undefined;
  return {
    client,
    card,
    hasExtension,
    toOptions: (signal) => ({ signal, ...(serviceParameters && { serviceParameters }) }),
  };
}

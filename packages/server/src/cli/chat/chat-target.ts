import type { AgentSource, Protocol } from '@intertie/core';
import { protocols, serverProtocol } from '../../protocols.ts';
import type { EndpointOptions } from '../input/request-endpoint.ts';
import { asFields, asNonEmptyText, type ConnectedSource } from '@intertie/core/internal';
import { didYouMean } from '../nearest.ts';
import { isAddress, isUrl } from '../input/open-input.ts';
import { createServerClient, type ServerOptions } from '../server-client.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import { detectingSource } from './detecting-source.ts';

/** Source to chat with. */
export interface ChatTarget {
  source: AgentSource;
  /** Name and protocol of the target, for display. */
  label: string;
  /** The Intertie server of the agent, which stores threads. */
  server?: { origin: string; source: ConnectedSource };
}

export interface ChatTargetOptions extends ServerOptions, Pick<EndpointOptions, 'as' | 'timeoutMs'> {
  /** Name of an agent, or a URL. */
  target?: string | undefined;
  /** Default: all protocols. */
  protocols?: readonly Protocol[] | undefined;
}

/** Resolves the target of a chat: an agent of an Intertie server by name, or an endpoint by URL. */
export async function findChatTarget(options: ChatTargetOptions, io: ToolIO): Promise<ChatTarget> {
  const { target, as, token } = options;
  if (target !== undefined && isAddress(target)) {
    throw new ToolError('usage', `“${target}” is not a URL.`, `Write http://${target}`);
  }
  if (target === undefined || !isUrl(target)) return findServerAgent(options, target, io);
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...options.headers };
  const list = (options.protocols ?? protocols).filter(({ client }) => client !== undefined);
  const connect = ({ client }: Protocol, url = target): ChatTarget => ({
    source: client!.connect({ url, fetch: io.fetch, headers, token }),
    label: `${url}, ${client!.server}`,
  });
  if (as !== undefined) return connect(findChatProtocol(as, list));
  const { pathname, origin } = new URL(target);
  const byPath = list.find(({ client }) => client!.matchesPath?.(pathname));
  if (byPath) return connect(byPath);
  if (pathname === '/') {
    const listing = asFields(await fetchJson(`${origin}/api/agents`, io, headers));
    if (Array.isArray(listing.agents)) return findServerAgent({ ...options, server: origin }, undefined, io);
    const root = await fetchJson(origin, io, headers);
    const byRoot = list.find(({ client }) => client!.matchesRoot?.(root));
    if (byRoot) return connect(byRoot, origin);
  }
  return { source: detectingSource(target, { ...options, headers }, io), label: target };
}

function findChatProtocol(as: string, list: readonly Protocol[]): Protocol {
  const found = list.find(({ name }) => name === as);
  if (found) return found;
  const names = list.map(({ name }) => name);
  const message = `“${as}” is not a chat protocol.${didYouMean(as, names)}`;
  throw new ToolError('usage', message, `Use one of ${names.join(', ')}.`);
}

/** Fetches JSON to recognize a server by it. Undefined if there is none. */
async function fetchJson(url: string, io: ToolIO, headers: Record<string, string>): Promise<unknown> {
  try {
    const response = await io.fetch(url, {
      headers: { accept: 'application/json', ...headers },
      signal: AbortSignal.timeout(5000),
    });
    return response.ok ? ((await response.json()) as unknown) : undefined;
  } catch {
    return undefined;
  }
}

async function findServerAgent(options: ChatTargetOptions, name: string | undefined, io: ToolIO): Promise<ChatTarget> {
  const client = createServerClient(options, io);
  const { agents } = asFields(await client.get('/api/agents'));
  const list = (Array.isArray(agents) ? agents : []).map(asFields);
  const names = list.flatMap((agent) => asNonEmptyText(agent.name) ?? []);
  const found =
    name === undefined
      ? (list.find(({ isDefault }) => isDefault === true) ?? list[0])
      : list.find((agent) => agent.name === name);
  const chosen = asNonEmptyText(found?.name);
  if (chosen === undefined) {
    if (name === undefined) throw new ToolError('unreadable', `${client.origin} has no agents.`);
    const message = `${client.origin} has no agent “${name}”.${didYouMean(name, names)}`;
    throw new ToolError('usage', message, `Its agents are ${names.join(', ')}.`);
  }
  const url = `${client.origin}/api/agents/${encodeURIComponent(chosen)}/chat`;
  const source = serverProtocol.client!.connect({ url, fetch: io.fetch, headers: client.headers });
  const description = asNonEmptyText(found?.description);
  const label = `${chosen} at ${client.origin}${description === undefined ? '' : `: ${description}`}`;
  return { source, label, server: { origin: client.origin, source } };
}

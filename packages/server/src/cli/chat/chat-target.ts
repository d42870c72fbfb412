import { agUiSource } from '@intertie/ag-ui';
import type { AgentSource } from '@intertie/core';
import { mailSource } from '@intertie/mail';
import type { EndpointOptions } from '../input/ask-endpoint.ts';
import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { nearest } from '../nearest.ts';
import { isAddress, isUrl } from '../input/open-input.ts';
import { createServerClient, type ServerOptions } from '../server-client.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import { guessingSource } from './detecting-source.ts';
import { uiMessageSource, type UIMessageSource } from './ui-message-source.ts';

export interface ChatTarget {
  source: AgentSource;
  /** For people: who it is, and what it speaks. */
  label: string;
  /** Of an Intertie server, which has the threads. */
  server?: { origin: string; source: UIMessageSource };
}

export interface ChatTargetOptions extends ServerOptions, Pick<EndpointOptions, 'as' | 'timeoutMs'> {
  /** An agent’s name, or a URL. */
  target?: string | undefined;
}

const speaks = ['ui-message-stream', 'ag-ui', 'mail'];

/** Who is meant: an agent of an Intertie server by its name, or anybody by a URL. */
export async function findChatTarget(options: ChatTargetOptions, io: ToolIO): Promise<ChatTarget> {
  const { target, as, token } = options;
  if (target !== undefined && isAddress(target)) {
    throw new ToolError('usage', `“${target}” is no URL.`, `Write http://${target}`);
  }
  if (target === undefined || !isUrl(target)) return intertieTarget(options, target, io);
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...options.headers };
  const more: Connection = { fetch: io.fetch, headers, token };
  if (as !== undefined) return targetAs(as, target, more);
  const { pathname, origin } = new URL(target);
  if (pathname.includes('chat')) return targetAs('ui-message-stream', target, more);
  if (pathname.includes('ag-ui')) return targetAs('ag-ui', target, more);
  if (pathname === '/') {
    const said = asFields(await readRoot(`${origin}/api/agents`, io, headers));
    if (Array.isArray(said.agents)) return intertieTarget({ ...options, server: origin }, undefined, io);
    const root = asFields(await readRoot(origin, io, headers));
    if (asNonEmptyText(root.protocol_version) !== undefined) return targetAs('mail', origin, more);
  }
  return { source: guessingSource(target, { ...options, headers }, io), label: target };
}

type Connection = { fetch: typeof globalThis.fetch; headers: Record<string, string>; token: string | undefined };

function targetAs(as: string, url: string, { token, ...more }: Connection): ChatTarget {
  switch (as) {
    case 'ui-message-stream':
      return { source: uiMessageSource({ url, ...more }), label: `${url}, a chat route` };
    case 'ag-ui':
      return { source: agUiSource({ url, ...more }), label: `${url}, an AG-UI agent` };
    case 'mail':
      return {
        source: mailSource({ baseUrl: url, ...more, ...(token !== undefined && { authToken: token }) }),
        label: `${url}, a MAIL swarm`,
      };
    default: {
      const near = nearest(as, speaks);
      const meant = near === undefined ? '' : ` Did you mean “${near}”?`;
      throw new ToolError('usage', `A chat cannot be held in “${as}”.${meant}`, `It can in ${speaks.join(', ')}.`);
    }
  }
}

/** What a server says of itself, or nothing: then it is another kind of server. */
async function readRoot(url: string, io: ToolIO, headers: Record<string, string>): Promise<unknown> {
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

async function intertieTarget(options: ChatTargetOptions, name: string | undefined, io: ToolIO): Promise<ChatTarget> {
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
    const near = nearest(name, names);
    const meant = near === undefined ? '' : ` Did you mean “${near}”?`;
    throw new ToolError(
      'usage',
      `${client.origin} has no agent “${name}”.${meant}`,
      `Its agents are ${names.join(', ')}.`,
    );
  }
  const url = `${client.origin}/api/agents/${encodeURIComponent(chosen)}/chat`;
  const source = uiMessageSource({ url, name: chosen, fetch: io.fetch, headers: client.headers });
  const description = asNonEmptyText(found?.description);
  const label = `${chosen} at ${client.origin}${description === undefined ? '' : `: ${description}`}`;
  return { source, label, server: { origin: client.origin, source } };
}

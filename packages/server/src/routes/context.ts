import { StoreError, type Store } from '@intertie/core';
import { checkStoreId } from '@intertie/core/store';
import type { FaultView } from '@intertie/core/http';
import type { Context, Hono } from 'hono';
import type { Host, HostedAgent } from '../host/host.ts';
import type { ServerEnv } from '../http/server-env.ts';
import { IntertieError } from '../errors/intertie-error.ts';

export type App = Hono<ServerEnv>;
export type RouteContext = Context<ServerEnv>;

/** The store as this request may see it. */
export function storeOf(host: Host, c: RouteContext): Store {
  return host.store.forScope(c.get('principal').id);
}

/** A path segment that is somebody's id. */
export function idParam(c: RouteContext, name: string): string {
  const id = c.req.param(name) ?? '';
  try {
    checkStoreId(name, id);
  } catch (error) {
    if (error instanceof StoreError) throw new IntertieError('bad-id', error.message);
    throw error;
  }
  return id;
}

/** The agent of the path; without one in it, the default. */
export function agentOf(host: Host, c: RouteContext): HostedAgent {
  const name = c.req.param('agent');
  if (name === undefined) return host.defaultAgent;
  const agent = host.agents.get(name);
  if (agent) return agent;
  throw new IntertieError('no-agent', `There is no agent "${name.slice(0, 64)}".`, {
    data: { agents: [...host.agents.keys()] },
  });
}

/** How the faults of a run are shown to clients. */
export function viewOf({ errorText }: Pick<Host, 'errorText'>, { runId }: { runId: string }): FaultView {
  return { runId, errorText };
}

/** For routes that show or do what only a developer at this machine should. */
export function requireOpen(host: Host): void {
  if (!host.isOpen) throw new IntertieError('loopback-only');
}

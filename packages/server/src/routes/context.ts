import { StoreError, type Store } from '@intertie/core';
import { checkStoreId } from '@intertie/core/store';
import type { FaultView } from '@intertie/core/http';
import type { Context, Hono } from 'hono';
import type { Host, HostedAgent } from '../host/host.ts';
import type { ServerEnv } from '../http/server-env.ts';
import { IntertieError } from '../errors/intertie-error.ts';

export type App = Hono<ServerEnv>;
export type RouteContext = Context<ServerEnv>;

/** Returns the store in the scope of the request's principal. */
export function getStore(host: Host, c: RouteContext): Store {
  return host.store.forScope(c.get('principal').id);
}

/** Reads a path parameter that is an id. Throws `bad-id`. */
export function readIdParam(c: RouteContext, name: string): string {
  const id = c.req.param(name) ?? '';
  try {
    checkStoreId(name, id);
  } catch (error) {
    if (error instanceof StoreError) throw new IntertieError('bad-id', error.message);
    throw error;
  }
  return id;
}

/** Finds the agent of the path, or the default agent for paths without one. Throws `no-agent`. */
export function findAgent(host: Host, c: RouteContext): HostedAgent {
  const name = c.req.param('agent');
  if (name === undefined) return host.defaultAgent;
  const agent = host.agents.get(name);
  if (agent) return agent;
  throw new IntertieError('no-agent', `Agent "${name.slice(0, 64)}" not found.`, {
    data: { agents: [...host.agents.keys()] },
  });
}

/** Selects how faults of a run are shown to clients. */
export function getFaultView({ errorText }: Pick<Host, 'errorText'>, { runId }: { runId: string }): FaultView {
  return { runId, errorText };
}

/** Restricts a route to local development servers. Throws `loopback-only`. */
export function requireLocal(host: Host): void {
  if (!host.isLocalOnly) throw new IntertieError('loopback-only');
}

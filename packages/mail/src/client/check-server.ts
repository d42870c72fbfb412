import { APICallError } from '@ai-sdk/provider';
import { explainVersion } from './api-error.ts';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import type { MAILAgentInfo, MAILServer } from './mail-server.ts';

/** Result of `provider.check()`. */
export type MAILCheck = {
  ok: boolean;
  baseUrl: string;
  /** Whether a MAIL server responded. */
  reachable: boolean;
  version?: string;
  swarm?: string;
  /** `token`: the server accepts the key. `debug`: the server requires no key. `none`: no message can be sent. */
  auth: 'token' | 'debug' | 'none';
  user?: { id: string; role: string };
  agents: MAILAgentInfo[];
  entrypoint?: string;
  /** How to fix the first problem found. */
  next?: string;
};

/** Checks version, authentication and swarm of a server without starting a task. Never throws. */
export async function checkServer(server: MAILServer, swarm?: string, signal?: AbortSignal): Promise<MAILCheck> {
  const found: MAILCheck = { ok: false, baseUrl: server.baseUrl, reachable: false, auth: 'none', agents: [] };
  try {
    const { version, swarm: name } = await server.readInfo(signal);
    Object.assign(found, { reachable: version !== undefined }, version && { version }, name && { swarm: name });
    const unsupported = explainVersion(version);
    if (unsupported !== undefined) return { ...found, next: unsupported };
    if (version === undefined) {
      return { ...found, next: `The server at ${server.baseUrl} does not identify itself as MAIL. Check baseUrl.` };
    }
    const next = await checkAuth(server, found, signal);
    Object.assign(found, await server.readAgents(signal).catch(() => ({ agents: [] })));
    if (next !== undefined) return { ...found, next };
    if (swarm !== undefined && swarm !== 'default' && name !== undefined && name !== swarm) {
      return { ...found, next: `The server hosts "${name}", not "${swarm}". Use mail('${name}').` };
    }
    return { ...found, ok: true };
  } catch (error) {
    return { ...found, next: error instanceof Error ? error.message : String(error) };
  }
}

/** Checks authentication with the cheapest request that needs the same permissions as a message. */
async function checkAuth(server: MAILServer, found: MAILCheck, signal?: AbortSignal): Promise<string | undefined> {
  try {
    if (server.token === undefined) {
      await server.get('/ui/tasks', signal);
      found.auth = 'debug';
      return undefined;
    }
    const { id, role } = asFields(await server.get('/whoami', signal));
    found.auth = 'token';
    found.user = { id: asNonEmptyText(id) ?? '', role: asNonEmptyText(role) ?? '' };
    return undefined;
  } catch (error) {
    if (server.token === undefined && APICallError.isInstance(error) && error.statusCode === 404) {
      return 'The server is not in debug mode and requires a key. Set authToken (or MAIL_API_KEY).';
    }
    return error instanceof Error ? error.message : String(error);
  }
}

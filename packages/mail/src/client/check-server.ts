import { APICallError } from '@ai-sdk/provider';
import { explainVersion } from './api-error.ts';
import { fieldsOf, nameOf } from '../shared/fields.ts';
import type { MAILAgentInfo, MAILServer } from './mail-server.ts';

/** What a look at a server found. */
export type MAILCheck = {
  ok: boolean;
  baseUrl: string;
  /** Whether anything answered that looks like MAIL. */
  reachable: boolean;
  version?: string;
  swarm?: string;
  /** `token`: a key that the server takes. `debug`: none, and none is needed. `none`: no way to send a message. */
  auth: 'token' | 'debug' | 'none';
  user?: { id: string; role: string };
  agents: MAILAgentInfo[];
  entrypoint?: string;
  /** The next step, if something is wrong. */
  next?: string;
};

/** Asks what can be asked without starting a task. */
export async function checkServer(server: MAILServer, swarm?: string, signal?: AbortSignal): Promise<MAILCheck> {
  const found: MAILCheck = { ok: false, baseUrl: server.baseUrl, reachable: false, auth: 'none', agents: [] };
  try {
    const { version, swarm: name } = await server.readInfo(signal);
    Object.assign(found, { reachable: version !== undefined }, version && { version }, name && { swarm: name });
    const unsupported = explainVersion(version);
    if (unsupported !== undefined) return { ...found, next: unsupported };
    if (version === undefined) {
      return { ...found, next: `What answers at ${server.baseUrl} does not say that it is MAIL. Check baseUrl.` };
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

/** The cheapest question that needs what a message needs. */
async function checkAuth(server: MAILServer, found: MAILCheck, signal?: AbortSignal): Promise<string | undefined> {
  try {
    if (server.token === undefined) {
      await server.get('/ui/tasks', signal);
      found.auth = 'debug';
      return undefined;
    }
    const { id, role } = fieldsOf(await server.get('/whoami', signal));
    found.auth = 'token';
    found.user = { id: nameOf(id) ?? '', role: nameOf(role) ?? '' };
    return undefined;
  } catch (error) {
    if (server.token === undefined && APICallError.isInstance(error) && error.statusCode === 404) {
      return 'The server is not in debug mode and wants a key. Set authToken (or MAIL_API_KEY).';
    }
    return error instanceof Error ? error.message : String(error);
  }
}

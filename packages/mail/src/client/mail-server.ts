import { explainVersion, toAPICallError, toConnectionError } from './api-error.ts';
import { asFields, asArray, asNonEmptyText } from '../shared/fields.ts';
import {
  defaultBaseUrl,
  readEnvironment,
  type MAILHeaders,
  type MAILProviderSettings,
} from '../shared/mail-settings.ts';

/** Response of `GET /`. */
export type MAILServerInfo = { version?: string; swarm?: string; entrypoint?: string };
export type MAILAgentInfo = { name: string; targets: string[]; isEntrypoint: boolean; canComplete: boolean };

/** HTTP client of one MAIL server. */
export class MAILServer {
  readonly baseUrl: string;
  #settings: MAILProviderSettings;
  #info: Promise<MAILServerInfo | undefined> | undefined;

  constructor(settings: MAILProviderSettings, baseUrl?: string) {
    const { baseUrl: given, baseURL = given } = settings;
    this.baseUrl = (baseUrl ?? baseURL ?? readEnvironment('MAIL_BASE_URL') ?? defaultBaseUrl).replace(/\/+$/, '');
    this.#settings = settings;
  }

  get token(): string | undefined {
    const { authToken, apiKey = authToken } = this.#settings;
    return asNonEmptyText(apiKey ?? readEnvironment('MAIL_API_KEY'));
  }

  /** `/message` requires a token; `/ui/message` exists in debug mode only. */
  get messagePath(): string {
    return this.token === undefined ? '/ui/message' : '/message';
  }

  /** Sends a message and returns the response with the event stream. Throws an `APICallError`. */
  async send(body: object, headers: MAILHeaders, signal: AbortSignal): Promise<Response> {
    const path = this.messagePath;
    const call = { url: `${this.baseUrl}${path}`, body, path, hasToken: this.token !== undefined };
    const request = {
      method: 'POST',
      headers: { ...(await this.#headers(headers)), 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
      signal,
    };
    let response: Response;
    try {
      response = await this.#fetch(call.url, request);
    } catch (error) {
      if (signal.aborted) throw error;
      throw toConnectionError(error, call);
    }
    if (response.ok && response.body) return response;
    // Other versions have other routes, but all report their version at the root.
    const version = response.status === 404 || response.status === 405 ? (await this.getInfo())?.version : undefined;
    throw await toAPICallError(response, call, explainVersion(version) && version);
  }

  async get(path: string, signal?: AbortSignal): Promise<unknown> {
    const url = `${this.baseUrl}${path}`;
    const call = { url, body: undefined, path, hasToken: this.token !== undefined };
    let response: Response;
    try {
      response = await this.#fetch(url, { headers: await this.#headers({}), ...(signal && { signal }) });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw toConnectionError(error, call);
    }
    if (!response.ok) throw await toAPICallError(response, call);
    return (await response.json()) as unknown;
  }

  /** Reads the server info once and caches it. Returns undefined on failure, since the info is not essential. */
  async getInfo(): Promise<MAILServerInfo | undefined> {
    this.#info ??= this.readInfo().catch(() => undefined);
    const info = await this.#info;
    if (info === undefined) this.#info = undefined;
    return info;
  }

  async readInfo(signal?: AbortSignal): Promise<MAILServerInfo> {
    const { protocol_version: version, swarm } = asFields(await this.get('/', signal));
    const { name, entrypoint } = asFields(swarm);
    return {
      ...(typeof version === 'string' && { version }),
      ...(typeof name === 'string' && { swarm: name }),
      ...(typeof entrypoint === 'string' && { entrypoint }),
    };
  }

  async readAgents(signal?: AbortSignal): Promise<{ agents: MAILAgentInfo[]; entrypoint?: string }> {
    const { agents, entrypoint } = asFields(await this.get('/ui/agents', signal));
    return {
      agents: asArray(agents).flatMap((agent) => readAgentInfo(agent) ?? []),
      ...(typeof entrypoint === 'string' && { entrypoint }),
    };
  }

  async #headers(headers: MAILHeaders): Promise<Record<string, string>> {
    const { headers: given = {} } = this.#settings;
    const configured = typeof given === 'function' ? await given() : given;
    const token = this.token;
    const all = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...lowerCaseNames(configured),
      ...lowerCaseNames(headers),
    };
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const { fetch = globalThis.fetch } = this.#settings;
    return fetch(url, init);
  }
}

/** Merging by lower-case name avoids duplicates, which `fetch` would send as a list. */
function lowerCaseNames(headers: MAILHeaders): { [name: string]: string | undefined } {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function readAgentInfo(value: unknown): MAILAgentInfo | undefined {
  const {
    name,
    comm_targets: targets,
    enable_entrypoint: isEntrypoint,
    can_complete_tasks: canComplete,
  } = asFields(value);
  if (typeof name !== 'string') return undefined;
  return {
    name,
    targets: asArray(targets).filter((target): target is string => typeof target === 'string'),
    isEntrypoint: isEntrypoint === true,
    canComplete: canComplete === true,
  };
}

import { explainVersion, toAPICallError, toConnectionError } from './api-error.ts';
import { fieldsOf, listOf, nameOf } from '../shared/fields.ts';
import {
  defaultBaseUrl,
  readEnvironment,
  type MAILHeaders,
  type MAILProviderSettings,
} from '../shared/mail-settings.ts';

/** What a server says of itself at `GET /`. */
export type MAILServerInfo = { version?: string; swarm?: string; entrypoint?: string };
export type MAILAgentInfo = { name: string; targets: string[]; isEntrypoint: boolean; canComplete: boolean };

/** One MAIL server over HTTP. */
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
    return nameOf(apiKey ?? readEnvironment('MAIL_API_KEY'));
  }

  /** The production endpoint where there is a token, the one of the debug mode where there is none. */
  get messagePath(): string {
    return this.token === undefined ? '/ui/message' : '/message';
  }

  /** Sends a message and gives the stream of its events. Throws an `APICallError`. */
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
    // Servers of other versions have other routes; the root says which one it is.
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

  /** Asked once. Undefined where the server does not say, which is no reason to fail. */
  async getInfo(): Promise<MAILServerInfo | undefined> {
    this.#info ??= this.readInfo().catch(() => undefined);
    const info = await this.#info;
    if (info === undefined) this.#info = undefined;
    return info;
  }

  async readInfo(signal?: AbortSignal): Promise<MAILServerInfo> {
    const { protocol_version: version, swarm } = fieldsOf(await this.get('/', signal));
    const { name, entrypoint } = fieldsOf(swarm);
    return {
      ...(typeof version === 'string' && { version }),
      ...(typeof name === 'string' && { swarm: name }),
      ...(typeof entrypoint === 'string' && { entrypoint }),
    };
  }

  async readAgents(signal?: AbortSignal): Promise<{ agents: MAILAgentInfo[]; entrypoint?: string }> {
    const { agents, entrypoint } = fieldsOf(await this.get('/ui/agents', signal));
    return {
      agents: listOf(agents).flatMap((agent) => readAgentInfo(agent) ?? []),
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

/** Names differ in case, and a header that is there twice is sent as a list. */
function lowerCaseNames(headers: MAILHeaders): { [name: string]: string | undefined } {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function readAgentInfo(value: unknown): MAILAgentInfo | undefined {
  const {
    name,
    comm_targets: targets,
    enable_entrypoint: isEntrypoint,
    can_complete_tasks: canComplete,
  } = fieldsOf(value);
  if (typeof name !== 'string') return undefined;
  return {
    name,
    targets: listOf(targets).filter((target): target is string => typeof target === 'string'),
    isEntrypoint: isEntrypoint === true,
    canComplete: canComplete === true,
  };
}

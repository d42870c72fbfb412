import type { Fault } from '../event/fault.ts';
import type { RequestLimits } from '../http/request-body.ts';
import type { JsonObject } from '../json/json.ts';
import type { DurableAgent } from '../run/durable-agent.ts';
import type { ClientRules } from './agent-kind.ts';

/** Route of a protocol on a server. */
export type EndpointRoute = {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path with `{name}` placeholders, each a segment or the beginning of one. `{agent}` selects the agent; without it the route gets the default agent. */
  path: string;
  summary: string;
  /** Query parameters with their descriptions. */
  query?: { readonly [name: string]: string };
  /** JSON Schema of the body, for the OpenAPI document. */
  body?: JsonObject;
  /** Success statuses with the kind of body. A route with `sse` counts against the limit of open streams. */
  answers: { readonly [status: number]: 'json' | 'sse' | 'nothing' };
  /** Whether the route needs no credentials, for example the description of an agent. Only for GET. */
  isPublic?: true;
};

/** Agent of a server, in the scope of the caller. */
export type EndpointAgent = { name: string; description?: string; agent: DurableAgent } & Pick<
  ClientRules,
  'interrupts'
>;

export type EndpointRequest = {
  request: Request;
  route: EndpointRoute;
  /** Values of the placeholders in the path, decoded. */
  params: { readonly [name: string]: string };
  /** Agent that the path names, or the default agent. */
  agent: EndpointAgent;
  /** All agents of the server, the default agent first. */
  agents: readonly EndpointAgent[];
  /** Id of the caller, for the record. */
  by: string;
  /** Scheme and host that the client used, also behind trusted proxies. */
  origin: string;
};

export type EndpointOptions = {
  limits: RequestLimits;
  /** Error text for clients. Absent: a text without details. */
  errorText?: (error: Fault) => string;
  /** URL path of a stored file. */
  fileUrl: (sha256: string) => string;
  /** Whether routes that are not public need credentials. */
  requiresToken: boolean;
  /** Logs an error whose details the client does not get. */
  onError?: (error: unknown) => void;
};

export type EndpointHandler = (request: EndpointRequest) => Promise<Response>;

/** HTTP endpoints that a server has for the clients of a protocol. */
export interface ProtocolEndpoints {
  readonly routes: readonly EndpointRoute[];
  /**
   * Whether error responses have the format of the protocol. Absent: the server completes `{ error: { code, message } }` with the fix
   * of its catalogue.
   */
  readonly hasOwnErrors?: true;
  /** Creates the body of an error that the server itself reports, for example missing credentials. Default: that of the server. */
  readonly createErrorBody?: (error: { status: number; code: string; message: string }) => JsonObject;
  /** Paths that belong to the protocol as a whole: unknown paths below them are errors, and not pages of the console. */
  readonly basePaths?: readonly string[];
  createHandler(options: EndpointOptions): Promise<EndpointHandler>;
}

import type { Fault, OnLoss } from '@intertie/core';
import type { RequestLimits } from '@intertie/core/http';
import type { FileUrl } from '@intertie/core/internal';
import type { BusyPolicy, PendingPolicy } from '@intertie/core/store';

/** Options of `createA2AHandler`. */
export interface A2AHandlerOptions {
  /** Name on the agent card. Default: that of the agent. */
  name?: string;
  /** Description on the agent card. Default: a sentence with the name. */
  description?: string;
  /** Version of the agent on its card. Default: `1`. */
  version?: string;
  /** Path of the endpoint. Needed if a request path alone does not show where it ends. Default: derived from the request. */
  basePath?: string;
  /** Scheme and host on the agent card. Default: those of the request. */
  origin?: string;
  /** Whether the card declares that requests need a bearer token. The handler itself checks none. Default: false. */
  requiresToken?: boolean;
  /**
   * Media types that messages may contain, with `*` for any subtype. Parts of other types are rejected. Default: text, JSON and
   * files of all types.
   */
  inputModes?: readonly string[];
  /** Effect of a new task on the live run of its context. Default: `queue`. */
  busy?: BusyPolicy;
  /** Effect of a new task on a task of its context that waits for input. Default: `supersede`, which cancels it. */
  pending?: PendingPolicy;
  /** Error text for clients. Default: that of our own errors, and a sentence with the run id for all others. */
  errorText?: (error: Fault) => string;
  /** URL of a stored file, from its hash. Default: the bytes are sent inline. */
  fileUrl?: FileUrl;
  limits?: Partial<RequestLimits>;
  /** Interval without events after which a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /** Interval of the polls for the continuation of a task that waits for input. Default: 500 milliseconds. */
  pollMs?: number;
  /** Maximum wait for the end of a canceled task. Default: 5 seconds. */
  cancelWaitMs?: number;
  /** Identity of the user, recorded with runs and answers. */
  by?: string;
  onLoss?: OnLoss;
  /** Receives errors that clients see only as an internal error. */
  onError?: (error: unknown) => void;
  generateId?: () => string;
}

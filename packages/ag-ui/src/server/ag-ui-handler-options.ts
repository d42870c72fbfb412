import type { PrepareRun } from '@intertie/ai-sdk';
import type { Fault, RunRequest } from '@intertie/core';
import type { BusyPolicy, PendingPolicy } from '@intertie/core/store';
import type { RequestLimits } from '@intertie/core/http';
import type { AGUIBinary } from '../wire/ag-ui-binary.ts';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import type { FileUrl } from './resolve-file-urls.ts';
import type { AGUIEncoderOptions } from '../encode/ag-ui-encoder-options.ts';

type Encoding = Pick<
  AGUIEncoderOptions,
  'form' | 'timestamps' | 'stepNames' | 'sendReasoning' | 'sendInternal' | 'preliminary' | 'snapshot' | 'onLoss'
>;

interface CommonOptions extends Encoding {
  /** The version of a client that does not say its own. Default: what all of them take. */
  protocolVersion?: string;
  /**
   * Text of an error for the client, from the error as it is stored. Default: the text of our own errors, and for all others
   * a sentence with the run id, since the messages of providers may hold keys.
   */
  errorText?: (error: Fault) => string;
  /** For clients that ask for it by name: `protobuf` of `@intertie/ag-ui/protobuf`. Default: all get server-sent events. */
  protobuf?: AGUIBinary;
  /** After how long a silence a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /** Limits of the request body, its JSON and its messages. */
  limits?: Partial<RequestLimits>;
  generateId?: () => string;
}

/** Where nothing is stored. */
export interface AGUIHandlerOptions extends CommonOptions {
  /** What a run is given beside the request. May throw a `Response` to refuse it. */
  prepare?: PrepareRun<{ request: Request; input: AGUIRunInput }>;
  now?: () => number;
}

/** What a run is given beside the request; the thread, the message and the ids are the request's. */
export type PreparedRequest = Pick<RunRequest, 'tools' | 'context' | 'state' | 'forwardedProps' | 'resourceId' | 'by'>;

/** Where runs are kept. */
export interface DurableAGUIHandlerOptions extends CommonOptions {
  /** Is called before a run begins that answers a message. May throw a `Response` to refuse it. */
  prepare?: (
    run: RunRequest,
    context: { request: Request; input: AGUIRunInput },
  ) => PreparedRequest | undefined | Promise<PreparedRequest | undefined>;
  /**
   * What a new message does to the run that is live in its thread. Default: `replace`, since a client that stops a run only
   * closes its connection, and says something new.
   */
  busy?: BusyPolicy;
  /** What a new message does to what the answer before it waits for. Default: `reject`. */
  pending?: PendingPolicy;
  /** Where a client finds a file that the store keeps, by its hash. Default: it is sent the bytes. */
  fileUrl?: FileUrl;
  /** How long after its end an answer is told from its beginning to a chat that asks for what it has missed. Default: 60 seconds. */
  replayEndedMs?: number;
  /** Who asks and answers, for the record. */
  by?: string;
  now?: () => number;
}

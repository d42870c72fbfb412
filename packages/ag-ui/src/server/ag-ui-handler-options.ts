import type { PrepareRun } from '@intertie/ai-sdk';
import type { Fault, RunRequest } from '@intertie/core';
import type { BusyPolicy, PendingPolicy } from '@intertie/core/store';
import type { RequestLimits } from '@intertie/core/http';
import type { FileUrl } from '@intertie/core/internal';
import type { AGUIBinary } from '../wire/ag-ui-binary.ts';
import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import type { AGUIEncoderOptions } from '../encode/ag-ui-encoder-options.ts';

type Encoding = Pick<
  AGUIEncoderOptions,
  | 'form'
  | 'timestamps'
  | 'stepNames'
  | 'sendReasoning'
  | 'sendInternal'
  | 'preliminary'
  | 'snapshot'
  | 'interrupts'
  | 'onLoss'
>;

interface CommonOptions extends Encoding {
  /** Protocol version of clients that do not declare one. Default: output that works for all versions since 0.0.45. */
  protocolVersion?: string;
  /**
   * Maps a stored error to the text that the client receives. Default: the message of Intertie's own errors, and for all
   * others a generic sentence with the run id, because messages of providers may contain keys.
   */
  errorText?: (error: Fault) => string;
  /** Encoder for clients that request protobuf: `protobuf` of `@intertie/ag-ui/protobuf`. Default: only server-sent events. */
  protobuf?: AGUIBinary;
  /** Interval without events after which a comment is sent, so that proxies keep the connection. Default: 15 seconds. */
  keepAliveMs?: number;
  /** Limits of the request body, its JSON and its messages. */
  limits?: Partial<RequestLimits>;
  generateId?: () => string;
}

/** Options of `createAGUIHandler` for a source without a store. */
export interface AGUIHandlerOptions extends CommonOptions {
  /** Adds to the input of a run. May throw a `Response` to reject the request. */
  prepare?: PrepareRun<{ request: Request; input: AGUIRunInput }>;
  now?: () => number;
}

/** Fields that `prepare` may add to a run. Thread, message and ids come from the request. */
export type PreparedRequest = Pick<RunRequest, 'tools' | 'context' | 'state' | 'forwardedProps' | 'resourceId' | 'by'>;

/** Options of `createAGUIHandler` for an agent with durable runs. */
export interface DurableAGUIHandlerOptions extends CommonOptions {
  /** Called before a run that answers a message starts. May throw a `Response` to reject the request. */
  prepare?: (
    run: RunRequest,
    context: { request: Request; input: AGUIRunInput },
  ) => PreparedRequest | undefined | Promise<PreparedRequest | undefined>;
  /**
   * Effect of a new message on the live run of its thread. Default: `replace`, because an AG-UI client stops a run only by
   * disconnecting.
   */
  busy?: BusyPolicy;
  /**
   * Effect of a new message on open questions and client tools of the previous answer. Default: `reject` for clients that declare
   * version 1.0, and `supersede` for others, which forget the questions at a reload.
   */
  pending?: PendingPolicy;
  /** URL of a stored file, from its hash. Default: the bytes are sent inline. */
  fileUrl?: FileUrl;
  /** Time after the end of a run during which `GET ?replay=true` still replays it. Default: 60 seconds. */
  replayEndedMs?: number;
  /** Identity of the user, recorded with runs and answers. */
  by?: string;
  now?: () => number;
}

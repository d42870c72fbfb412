import type { EventOf, Fault, JsonObject, Meta } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { toIdentity } from '../../shared/intertie-metadata.ts';
import { defined, asJsonObject } from '../../shared/read-fields.ts';

export type CallEvent = EventOf<'tool-input-start' | 'tool-call'>;

/** State of a call at the client. */
export type UICall = {
  state: 'streaming' | 'complete' | 'settled';
  toolName: string;
  /** Constant for all chunks of the call: the client creates a second part if it changes. */
  dynamic: boolean;
  stepId?: string;
  /** Merged metadata with our fields. The client replaces metadata, so all of it is sent each time. */
  meta: Meta | undefined;
  /** Metadata that was sent last. */
  sent: Meta | undefined;
  resultMeta?: Meta;
  providerExecuted?: true;
  invalid?: Fault;
  questionId?: string;
  /** Whether the client shows a preliminary output. */
  hasPreliminary?: true;
  /** Whether the approval was answered with anything but a yes. */
  isRefused?: true;
};

/** Collects the fields of a call that its chunks do not have. */
export function getCallMetadata(event: CallEvent | ToolPart, isDynamic: boolean): JsonObject {
  const { executor, dynamic, inputEncoding, toolMetadata } = event;
  const intertie = toIdentity({ ...event, id: undefined });
  if (executor === 'runtime' || executor === 'client') intertie.executor = executor;
  if (dynamic !== undefined && (dynamic !== isDynamic || !dynamic)) intertie.dynamic = dynamic;
  if (event.type !== 'tool-input-start' && inputEncoding !== undefined) intertie.inputEncoding = inputEncoding;
  if (toolMetadata !== undefined && asJsonObject(toolMetadata) === undefined) intertie.toolMetadata = toolMetadata;
  return intertie;
}

type CallFields = {
  toolCallId: string;
  toolName: string;
  providerExecuted?: boolean;
  dynamic?: boolean;
  title?: string;
  toolMetadata?: JsonObject;
  providerMetadata?: Meta;
};

export function toCallFields({ toolCallId, title, toolMetadata }: CallEvent, call: UICall): CallFields {
  return {
    toolCallId,
    toolName: call.toolName,
    ...toResultFields(call),
    ...defined({
      title,
      toolMetadata: toolMetadata === undefined ? undefined : asJsonObject(toolMetadata),
      providerMetadata: call.meta,
    }),
  };
}

export function toResultFields({ providerExecuted, dynamic }: UICall): { providerExecuted?: true; dynamic?: true } {
  return { ...(providerExecuted && { providerExecuted }), ...(dynamic && { dynamic }) };
}

/** Whether a fault consists of its message only. */
export function hasOnlyMessage(fault: Fault): boolean {
  return Object.keys(fault).length === 1;
}

/** Collects the fields of a fault besides its message. */
export function toFaultMetadata(error: Fault): JsonObject {
  const { message: _, ...fault } = error;
  return Object.keys(fault).length > 0 ? { error: fault } : {};
}

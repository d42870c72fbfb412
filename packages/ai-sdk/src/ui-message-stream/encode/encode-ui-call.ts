import type { EventOf, Fault, JsonObject, Meta } from '@intertie/core';
import type { ToolPart } from '@intertie/core/internal';
import { toIdentityMetadata } from '../../shared/intertie-metadata.ts';
import { defined, asJsonObject } from '../../shared/read-fields.ts';

export type CallEvent = EventOf<'tool-input-start' | 'tool-call'>;

/** A call as the client knows it. */
export type UICall = {
  state: 'streaming' | 'complete' | 'settled';
  toolName: string;
  /** Said on every chunk of the call, and always the same: two values make two parts. */
  dynamic: boolean;
  stepId?: string;
  /** With the slot. The client replaces what it has, so the whole is sent each time. */
  meta: Meta | undefined;
  /** What of it the client has. */
  sent: Meta | undefined;
  resultMeta?: Meta;
  providerExecuted?: true;
  invalid?: Fault;
  questionId?: string;
  /** The client shows an output of it that is not the last. */
  hasPreliminary?: true;
  /** The question was answered, and not with a yes. */
  isRefused?: true;
};

/** What the chunks of a call have no field for. */
export function getCallMetadata(event: CallEvent | ToolPart, isDynamic: boolean): JsonObject {
  const { executor, dynamic, inputEncoding, toolMetadata } = event;
  const intertie = toIdentityMetadata({ ...event, id: undefined });
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

/** A fault that its message says all of. */
export function hasOnlyMessage(fault: Fault): boolean {
  return Object.keys(fault).length === 1;
}

/** What the text of an error does not say. */
export function toFaultMetadata(error: Fault): JsonObject {
  const { message: _, ...fault } = error;
  return Object.keys(fault).length > 0 ? { error: fault } : {};
}

import type { CanonicalMessage, MessageContent, OnLoss, RunInput } from '@intertie/core';
import type { UIMessage } from 'ai';
import { toRequestMessages } from '../messages/to-request-messages.ts';
import { toUIMessages } from '../messages/to-ui-messages.ts';
import { metadataKey } from '../shared/intertie-metadata.ts';
import { asFields, asNonEmptyText, defined, isFields, omit, type Fields } from '../shared/read-fields.ts';
import { parseExtension } from '../ui-message-stream/chunk/ui-extension.ts';
import type { UIMessageVersion } from '../ui-message-stream/chunk/ui-message-chunk.ts';

type UIPart = Fields & { type: string };

/** Returns the messages of a run as `useChat` would send them to a chat route: with the route's ids and without our metadata. */
export function toChatRouteMessages(run: RunInput, version: UIMessageVersion, onLoss: OnLoss): UIMessage[] {
  const messages = toRequestMessages(run);
  const callIds = new Map(messages.flatMap(({ content }) => listRenamedCalls(content)).map(([wire, id]) => [id, wire]));
  return toUIMessages(messages.map(withRouteId), { version, onLoss }).map(({ id, role, ...message }, index) => {
    const { runId } = readWireIds(messages[index]!);
    const metadata = {
      ...omit(asFields(message.metadata), metadataKey),
      ...(runId !== undefined && { [metadataKey]: { runId } }),
    };
    const own = (message.parts as UIPart[]).filter((part) => !isExtension(part)).map((part) => toPlain(part, callIds));
    // Only streamed text has a state.
    const parts = role === 'assistant' ? own : own.map((part) => omit(part, 'state'));
    return defined({ id, role, metadata: Object.keys(metadata).length > 0 ? metadata : undefined, parts }) as never;
  });
}

/** Returns the calls that were renamed, because the route repeats call ids: the route's id and ours. */
export function listRenamedCalls(content: MessageContent | undefined): Array<[wireId: string, toolCallId: string]> {
  return (content?.parts ?? []).flatMap((part) => {
    if (part.type !== 'tool-invocation') return [];
    const wireId = asNonEmptyText(part.providerMetadata?.['ai-sdk']?.toolCallId);
    return wireId === undefined ? [] : [[wireId, part.toolCallId]];
  });
}

function withRouteId(message: CanonicalMessage): CanonicalMessage {
  const { messageId: id } = readWireIds(message);
  return id === undefined ? message : { ...message, id };
}

/** Reads the ids of the route's `start` chunk, which the decoder records at the end of a run. */
function readWireIds({ content }: CanonicalMessage): { messageId: string | undefined; runId: string | undefined } {
  const { messageId, runId } = asFields(content.providerMetadata?.['ai-sdk']);
  return { messageId: asNonEmptyText(messageId), runId: asNonEmptyText(runId) };
}

function isExtension({ type, id }: UIPart): boolean {
  return parseExtension({ type, ...(typeof id === 'string' && { id }) }) !== undefined;
}

const metadataFields = ['providerMetadata', 'callProviderMetadata', 'resultProviderMetadata'] as const;

function toPlain(part: UIPart, callIds: ReadonlyMap<string, string>): UIPart {
  // Only an Intertie server sends question parts, and it needs their metadata to read the answer.
  if (asFields(asFields(part.callProviderMetadata)[metadataKey]).question === true) return part;
  const plain: { [key: string]: unknown; type: string } = { ...part };
  for (const field of metadataFields) {
    if (!isFields(part[field])) continue;
    const own = omit(asFields(part[field]['ai-sdk']), 'toolCallId');
    const metadata = {
      ...omit(part[field], metadataKey, 'ai-sdk'),
      ...(Object.keys(own).length > 0 && { 'ai-sdk': own }),
    };
    if (Object.keys(metadata).length > 0) plain[field] = metadata;
    else delete plain[field];
  }
  const wireId = typeof part.toolCallId === 'string' ? callIds.get(part.toolCallId) : undefined;
  return wireId === undefined ? plain : { ...plain, toolCallId: wireId };
}

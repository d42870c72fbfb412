import { asFields, asNonEmptyText } from '@intertie/core/internal';
import { framingNames, type Frame, type Framing } from '../formats/frame.ts';
import { ToolError } from '../tool-error.ts';

/** Streams of model providers, which users confuse with streams of agents. */
const providerStreams: ReadonlyArray<readonly [pattern: RegExp, title: string]> = [
  [/^chat\.completion/, 'a stream of OpenAI chat completions'],
  [/^response\.(?:created|in_progress|output|completed|failed)/, 'a stream of OpenAI responses'],
  [
    /^(?:message_start|content_block_(?:start|delta|stop)|message_delta|message_stop)$/,
    'a stream of Anthropic messages',
  ],
  [/^stream-start$/, 'the stream of an AI SDK language model'],
];
const maxKinds = 8;

/** Explains why a stream is rejected: its likely origin and its first items. */
export function createUnknownProtocolError(
  framing: Framing,
  frames: readonly Frame[],
  known: readonly string[],
): ToolError {
  const items = frames.map(parseItem);
  const kinds = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const kind = getKind(item, frames[index]!);
    if (kind !== undefined) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const provider = providerStreams.find(([pattern]) => [...kinds.keys()].some((kind) => pattern.test(kind)))?.[1];
  const { error, detail } = asFields(items[0]);
  const isError = error !== undefined || detail !== undefined;
  const origin = provider === undefined ? 'of an unknown protocol' : `${provider}, which is not supported`;
  const counted = [...kinds].slice(0, maxKinds).map(([kind, count]) => `${count} ${kind}`);
  const sentences = [
    `This is ${framingNames[framing]}, ${origin}.`,
    isError ? 'It looks like an error response.' : undefined,
    counted.length === 0 ? undefined : `It begins with ${counted.join(', ')}${kinds.size > maxKinds ? ', …' : ''}.`,
    `The first item: ${getFrameText(frames[0]).slice(0, 160)}`,
  ];
  const fix =
    provider === undefined
      ? `If you know the protocol, give it: ${known.join(', ')}.`
      : 'Use the stream that the server of your agent sends to its client.';
  return new ToolError('unreadable', sentences.filter((text) => text !== undefined).join(' '), fix);
}

function parseItem(frame: Frame): unknown {
  if (frame.type === 'value') return frame.value;
  if (frame.type !== 'text') return undefined;
  try {
    return JSON.parse(frame.text) as unknown;
  } catch {
    return undefined;
  }
}

function getKind(item: unknown, frame: Frame): string | undefined {
  const { type, object, event } = asFields(item);
  return (
    asNonEmptyText(type) ??
    asNonEmptyText(object) ??
    asNonEmptyText(event) ??
    (frame.type === 'text' ? frame.event : undefined)
  );
}

function getFrameText(frame: Frame | undefined): string {
  if (frame === undefined || frame.type === 'done') return 'none';
  return frame.type === 'value' ? (JSON.stringify(frame.value) ?? '') : frame.text;
}

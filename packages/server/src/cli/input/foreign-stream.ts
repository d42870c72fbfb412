import { asFields, asNonEmptyText } from '@intertie/core/internal';
import type { Frame, Framing } from '../formats/frame.ts';
import { ToolError } from '../tool-error.ts';

/** Streams that people have at hand, and that are of another level: what a model's provider says, not what an agent does. */
const strangers: ReadonlyArray<readonly [pattern: RegExp, title: string]> = [
  [/^chat\.completion/, 'a stream of OpenAI’s chat completions'],
  [/^response\.(?:created|in_progress|output|completed|failed)/, 'a stream of OpenAI’s responses'],
  [
    /^(?:message_start|content_block_(?:start|delta|stop)|message_delta|message_stop)$/,
    'a stream of Anthropic’s messages',
  ],
  [/^stream-start$/, 'what a language model of the AI SDK gives to streamText'],
];
const names: { readonly [framing in Framing]: string } = {
  sse: 'server-sent events',
  ndjson: 'JSON lines',
  tape: 'a tape',
  json: 'JSON',
};
const maxKinds = 8;

/** Why a stream of no known dialect is refused: what it seems to be, and what is in it. */
export function foreignStream(framing: Framing, frames: readonly Frame[], known: readonly string[]): ToolError {
  const items = frames.map(itemOf);
  const kinds = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const kind = kindOf(item, frames[index]!);
    if (kind !== undefined) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const stranger = strangers.find(([pattern]) => [...kinds.keys()].some((kind) => pattern.test(kind)))?.[1];
  const { error, detail } = asFields(items[0]);
  const refusal =
    error !== undefined || detail !== undefined ? 'It looks like what a server says when it refuses.' : undefined;
  const what = stranger === undefined ? `of no dialect that is known here` : `${stranger}, which no tool here reads`;
  const counted = [...kinds].slice(0, maxKinds).map(([kind, count]) => `${count} ${kind}`);
  const words = [
    `This is ${names[framing]}, ${what}.`,
    refusal,
    counted.length === 0 ? undefined : `It begins with ${counted.join(', ')}${kinds.size > maxKinds ? ', …' : ''}.`,
    `The first item: ${textOfFrame(frames[0]).slice(0, 160)}`,
  ];
  const fix =
    stranger === undefined
      ? `If you know what it is, name the dialect: ${known.join(', ')}.`
      : 'Give the tools what your agent’s server sends to its front end.';
  return new ToolError('unreadable', words.filter((word) => word !== undefined).join(' '), fix);
}

function itemOf(frame: Frame): unknown {
  if (frame.type === 'value') return frame.value;
  if (frame.type !== 'text') return undefined;
  try {
    return JSON.parse(frame.text) as unknown;
  } catch {
    return undefined;
  }
}

function kindOf(item: unknown, frame: Frame): string | undefined {
  const { type, object, event } = asFields(item);
  return (
    asNonEmptyText(type) ??
    asNonEmptyText(object) ??
    asNonEmptyText(event) ??
    (frame.type === 'text' ? frame.event : undefined)
  );
}

function textOfFrame(frame: Frame | undefined): string {
  if (frame === undefined || frame.type === 'done') return 'there is none';
  return frame.type === 'value' ? (JSON.stringify(frame.value) ?? '') : frame.text;
}

import { arbitraryContinuation, arbitraryRun } from '@intertie/conformance/arbitraries';
import {
  foldEvents,
  seal,
  transcode,
  type CanonicalMessage,
  type Json,
  type Loss,
  type MessagePart,
} from '@intertie/core';
import { repairHistory, type ToolPart } from '@intertie/core/internal';
import { modelMessageSchema } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish, majors, scriptedModel, text as textChunks } from '../../test/scripted-model.ts';
import { fromModelMessages } from './from-model-messages.ts';
import { fromUIMessages } from './from-ui-messages.ts';
import { toAiSdkMessages } from './to-ai-sdk-messages.ts';
import { toUIMessages } from './to-ui-messages.ts';

const sealed = ({ run, events, end }: { run: never; events: never; end: never }): CanonicalMessage =>
  foldEvents(
    transcode(
      seal(run, () => undefined),
      events,
      end,
    ),
  )!;
const folded: fc.Arbitrary<CanonicalMessage> = fc.oneof(
  arbitraryRun().map((run) => sealed(run as never)),
  arbitraryContinuation().map(({ continued }) => sealed(continued as never)),
);

/** Removes the fields that model messages cannot carry and the parts in the loss report. */
function withoutLosses(original: CanonicalMessage, losses: Loss[]): CanonicalMessage[] {
  // Ids of questions and parts may be equal.
  const named = new Set(losses.filter(({ what }) => what !== 'unanswered-question').map(({ id }) => id));
  return repairHistory([original]).messages.flatMap((message) => {
    const { state: _, sourceState: __, parentId: ___, runId: ____, status: _____, ...rest } = message;
    const parts = message.content.parts.flatMap((part): MessagePart[] => {
      if (part.type === 'tool-invocation') {
        if (part.executor === 'provider' && part.error?.code === 'unsettled') return [];
        return [part.state === 'result' && part.resultContent ? { ...part, result: toModelContent(part) } : part];
      }
      if (part.type === 'question' || named.has(part.id)) return [];
      if (part.type !== 'interjection') return [part];
      const spoken = part.parts.filter((inner) => inner.type !== 'text' || inner.text.trim() !== '');
      return spoken.length > 0 ? [{ ...part, parts: spoken }] : [];
    });
    return parts.length === 0 ? [] : [{ ...rest, content: { format: 2, parts } }];
  });
}

/** Result content as a model reads it: values that are not parts become text. */
function toModelContent({ result }: ToolPart): Json {
  return (result as string[]).map((text) => ({ type: 'text', text }));
}

describe('canonical → model → canonical', () => {
  test('preserves everything except the reported losses', () => {
    fc.assert(
      fc.property(folded, (original) => {
        const losses: Loss[] = [];
        const messages = toAiSdkMessages([original], { includeInternal: true, onLoss: (loss) => losses.push(loss) });
        const restored = fromModelMessages(messages, { threadId: original.threadId });
        const expected = withoutLosses(original, losses);
        expect(restored.map(getEnvelope)).toEqual(expected.map(getEnvelope));
        // Overlapping steps of several agents are written one after the other.
        expect(restored[0]?.content.parts.map(toKey).toSorted()).toEqual(
          expected[0]?.content.parts.map(toKey).toSorted(),
        );
      }),
      { numRuns: 300 },
    );
  });
});

function getEnvelope(message: CanonicalMessage): Omit<CanonicalMessage, 'content'> {
  const { content: _, ...envelope } = message;
  return envelope;
}

/** Key of a part, independent of the order of its fields. */
function toKey(part: MessagePart): string {
  return JSON.stringify(sorted(part));
}
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, item]) => [key, sorted(item)]));
}

describe.each(majors)('$name', ({ ai, major }) => {
  test('accepts the messages in its schema and in streamText', async () => {
    const user: CanonicalMessage = {
      id: 'u',
      threadId: 'thread-1',
      role: 'user',
      type: 'text',
      content: { format: 2, parts: [{ type: 'text', text: 'go on' }] },
      createdAt: new Date(0),
    };
    await fc.assert(
      fc.asyncProperty(folded, async (original) => {
        const messages = toAiSdkMessages([original, user], { includeInternal: true });
        if (major === 6) for (const message of messages) modelMessageSchema.parse(message);
        const model = scriptedModel([...textChunks('0', 'ok'), finish()]);
        const errors: unknown[] = [];
        const result = ai.streamText({
          model,
          messages,
          onError: ({ error }) => void errors.push(error),
          experimental_download: async (files) => files.map(() => ({ data: new Uint8Array(), mediaType: undefined })),
        });
        await result.consumeStream();
        expect(errors).toEqual([]);
        expect(await result.text).toBe('ok');
      }),
      { numRuns: 60 },
    );
  });

  test('converts model messages to UI messages and back', async () => {
    const messages = [
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'weather?' }] },
      {
        role: 'assistant' as const,
        content: [
          { type: 'reasoning' as const, text: 'hm', providerOptions: { anthropic: { signature: 's' } } },
          { type: 'tool-call' as const, toolCallId: 'c', toolName: 'weather', input: { city: 'Paris' } },
        ],
      },
      {
        role: 'tool' as const,
        content: [
          {
            type: 'tool-result' as const,
            toolCallId: 'c',
            toolName: 'weather',
            output: { type: 'json' as const, value: { sun: true } },
          },
        ],
      },
      { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Sunny.' }] },
    ];
    const ui = toUIMessages(fromModelMessages(messages, { threadId: 't' }));
    expect(ui.map(({ role }) => role)).toEqual(['user', 'assistant']);
    const again = await ai.convertToModelMessages(ui);
    const strip = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value, (key, item: unknown) => (key === 'intertie' ? undefined : item)).replaceAll(
          /,"(providerOptions)":\{\}/g,
          '',
        ),
      );
    expect(strip(again)).toEqual(messages);
    expect(strip(toAiSdkMessages(fromUIMessages(ui, { threadId: 't' })))).toEqual(messages);
  });
});

test('reports and drops invalid messages', () => {
  const losses: Loss[] = [];
  expect(fromModelMessages([7], { threadId: 't', onLoss: (loss) => losses.push(loss) })).toEqual([]);
  expect(losses).toMatchObject([{ kind: 'unsupported', what: 'message' }]);
});

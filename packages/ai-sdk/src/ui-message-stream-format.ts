import type { Protocol } from '@intertie/core';
import { getItemType, toRunIds } from '@intertie/core/internal';
import { asFields } from './shared/read-fields.ts';
import { UIMessageChecker, type UIMessageCheckerOptions } from './ui-message-stream/check/ui-message-checker.ts';
import { uiMessageRules } from './ui-message-stream/check/ui-message-rules.ts';
import { isUIMessageChunk } from './ui-message-stream/chunk/validate-ui-message-chunk.ts';
import { createUIMessageEncoder } from './ui-message-stream/encode/encode-ui-message-stream.ts';

/** Fields of full stream parts, which share many types with UI message chunks. */
const fullStreamFields = ['request', 'warnings', 'response', 'usage', 'totalUsage'];

/** Creates the format for a reader of a version, which may already have the message. Small enough for a page. */
export function createUIMessageStreamFormat(options: UIMessageCheckerOptions = {}): Protocol {
  const { version = 6 } = options;
  return {
    name: 'ui-message-stream',
    aliases: ['ui', 'usechat'],
    label: version === 7 ? 'UI message stream · ai 7' : 'UI message stream',
    title: 'an AI SDK UI message stream, as useChat reads it',
    framing: { mediaTypes: ['text/event-stream'], hasDone: true, header: 'x-vercel-ai-ui-message-stream' },
    rules: uiMessageRules,
    looksLike: (item) => isUIMessageChunk(item, 7) && !fullStreamFields.some((key) => key in asFields(item)),
    getKind: (item) => getItemType(item) || 'not a chunk',
    startsRun: (item) => getItemType(item) === 'start',
    readRunIds: (item) => toRunIds({ messageId: asFields(item).messageId }),
    checker: () => new UIMessageChecker(options),
    encoder: (_run, onLoss, { includeInternal = false } = {}) =>
      createUIMessageEncoder({ version, baseline: 'restate', includeInternal, onLoss }),
    items: {
      families: {
        run: ['start', 'finish', 'abort', 'message-metadata'],
        agent: ['start-step', 'finish-step'],
        text: ['text-*'],
        reasoning: ['reasoning-*'],
        tool: ['tool-*'],
        people: ['tool-approval-*'],
        data: ['data-*', 'file', 'source-*'],
        notice: ['error', 'tool-input-error', 'tool-output-error'],
      },
      deltas: ['*-delta'],
    },
    variants: {
      option: 'ui-version',
      description: 'major version of ai that reads a UI message stream',
      names: ['6', '7'],
      create: (name) => createUIMessageStreamFormat({ ...options, version: name === '7' ? 7 : 6 }),
    },
  };
}

/** Format of `useChat` in ai 6: its rules, and how it is detected, checked and encoded. ai 7 reads it too. */
export const uiMessageStreamFormat: Protocol = createUIMessageStreamFormat();

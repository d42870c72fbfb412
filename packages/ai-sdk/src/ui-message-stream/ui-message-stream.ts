import type { Dialect } from '@intertie/core';
import { createUIMessageDecoder } from './decode/decode-ui-message-stream.ts';
import { createUIMessageEncoder } from './encode/encode-ui-message-stream.ts';
import { asFields, asText } from '../shared/read-fields.ts';
import { UIMessageChecker, type UIMessageCheckerOptions } from './check/ui-message-checker.ts';
import { uiMessageRules } from './check/ui-message-rules.ts';
import { isUIMessageChunk } from './chunk/validate-ui-message-chunk.ts';

/** Creates the dialect for a reader of a version, which may already have the message. */
export function createUIMessageStreamDialect(options: UIMessageCheckerOptions = {}): Dialect {
  const { version = 6 } = options;
  return {
    name: 'ui-message-stream',
    rules: uiMessageRules,
    detect: (item) => isUIMessageChunk(item, 7),
    getKind: (item) => asText(asFields(item).type) ?? 'not a chunk',
    checker: () => new UIMessageChecker(options),
    decoder: (run, onLoss) => createUIMessageDecoder(run, { onLoss }),
    encoder: (_run, onLoss) => createUIMessageEncoder({ version, baseline: 'restate', onLoss }),
  };
}

/** Dialect of `useChat` in ai 6; ai 7 reads it too. */
export const uiMessageStream: Dialect = createUIMessageStreamDialect();

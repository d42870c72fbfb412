import type { Dialect } from '@intertie/core';
import { createUIMessageDecoder } from './decode/decode-ui-message-stream.ts';
import { createUIMessageEncoder } from './encode/encode-ui-message-stream.ts';
import { asFields, asText } from '../shared/read-fields.ts';
import { UIMessageChecker, type UIMessageCheckerOptions } from './check/ui-message-checker.ts';
import { uiMessageRules } from './check/ui-message-rules.ts';
import { isUIMessageChunk } from './chunk/validate-ui-message-chunk.ts';

/** The UI message stream as a dialect, for a reader of that version, which may already have the message. */
export function createUIMessageStreamDialect(options: UIMessageCheckerOptions = {}): Dialect {
  const { version = 6 } = options;
  return {
    name: 'ui-message-stream',
    rules: uiMessageRules,
    detect: (item) => isUIMessageChunk(item, 7),
    getKind: (item) => asText(asFields(item).type) ?? 'no chunk',
    checker: () => new UIMessageChecker(options),
    decoder: (run, onLoss) => createUIMessageDecoder(run, { onLoss }),
    encoder: (_run, onLoss) => createUIMessageEncoder({ version, baseline: 'restate', onLoss }),
  };
}

/** What `useChat` of `ai` 6 reads, and that of 7 too. */
export const uiMessageStream: Dialect = createUIMessageStreamDialect();

import type { LanguageModelV3StreamPart, SharedV3Warning } from '@ai-sdk/provider';
import { createLanguageModelV3Encoder } from '@intertie/ai-sdk';
import { compose, generateId, seal } from '@intertie/core';
import { createAgentLabels } from '../shared/agent-labels.ts';
import { createMAILDecoder } from '../decode/decode-mail.ts';
import type { MAILFrame } from '../shared/mail-event.ts';
import type { MAILToolCalls } from '../shared/mail-settings.ts';
import { createModelRun } from './model-run.ts';

export interface MAILStreamTransformerOptions {
  warnings?: SharedV3Warning[];
  includeAgentChatter?: boolean | 'reasoning';
  taskId?: string;
  /** `all`: also shows the calls of MAIL's own tools. Default: `actions`. */
  toolCalls?: MAILToolCalls;
}

/**
 * Converts events of a MAIL server to V3 stream parts, for programs that read the events themselves. The output ends with
 * `finish`, even if further events follow.
 */
export function createMAILStreamTransformer({
  warnings = [],
  includeAgentChatter = false,
  taskId,
  toolCalls = 'actions',
}: MAILStreamTransformerOptions = {}): TransformStream<MAILFrame, LanguageModelV3StreamPart> {
  const run = createModelRun(generateId(), [], Date.now());
  const decoder = createMAILDecoder(run, { toolCalls, ...(taskId !== undefined && { taskId }) });
  const sealed = compose(
    decoder,
    seal(run, () => undefined, { trusted: true }),
  );
  const labelled = compose(sealed, createAgentLabels(includeAgentChatter));
  const codec = compose(labelled, createLanguageModelV3Encoder({ warnings, includeInternal: includeAgentChatter }));
  return new TransformStream<MAILFrame, LanguageModelV3StreamPart>({
    start: (controller) => codec.flush?.((part) => controller.enqueue(part)),
    transform(frame, controller) {
      codec.feed(frame, (part) => {
        controller.enqueue(part);
        if (part.type === 'finish') controller.terminate();
      });
    },
    flush: (controller) => codec.end({ reason: 'eof' }, (part) => controller.enqueue(part)),
  });
}

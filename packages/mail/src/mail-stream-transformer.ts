import type { LanguageModelV3StreamPart, SharedV3Warning } from '@ai-sdk/provider';
import { createLanguageModelV3Encoder } from '@intertie/ai-sdk';
import { compose, generateId, seal } from '@intertie/core';
import { createMAILDecoder } from './decode-mail.ts';
import type { MAILFrame } from './mail-event.ts';
import { modelRun } from './model-run.ts';

export interface MAILStreamTransformerOptions {
  warnings?: SharedV3Warning[];
  includeAgentChatter?: boolean | 'reasoning';
  taskId?: string;
}

/**
 * The events of a MAIL server as the parts of a V3 model, for programs that have the events already. It ends with `finish`,
 * whatever comes after it.
 */
export function createMAILStreamTransformer({
  warnings = [],
  includeAgentChatter = false,
  taskId,
}: MAILStreamTransformerOptions = {}): TransformStream<MAILFrame, LanguageModelV3StreamPart> {
  const run = modelRun(generateId(), [], Date.now());
  const decoder = createMAILDecoder(run, taskId === undefined ? {} : { taskId });
  const sealed = compose(
    decoder,
    seal(run, () => undefined, { trusted: true }),
  );
  const codec = compose(sealed, createLanguageModelV3Encoder({ warnings, includeInternal: includeAgentChatter }));
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

import { compose, seal, type AgentEvent, type Codec, type Dialect, type OnLoss, type RunInput } from '@intertie/core';
import type { Checker } from '@intertie/core/internal';
import { asFields } from '@intertie/core/internal';

interface DecodeOnlyDialectOptions {
  name: string;
  detect: (item: unknown) => boolean;
  getKind: (item: unknown) => string;
  decoder: (run: RunInput, onLoss: OnLoss) => Codec<unknown, AgentEvent>;
}

/**
 * Creates a dialect that can be decoded but has no rules of its own. A check decodes the stream and reports unknown items and
 * a missing end.
 */
export function createDecodeOnlyDialect({ name, detect, getKind, decoder }: DecodeOnlyDialectOptions): Dialect {
  return {
    name,
    rules: [
      {
        id: 'item',
        sentence: 'Every item belongs to the dialect.',
        fix: 'Check the item: it may belong to another stream or to a newer version of the runtime.',
      },
      {
        id: 'end',
        sentence: 'The stream contains the end of the run.',
        fix: 'Read it to its end. If the connection was lost, the answer is incomplete.',
      },
    ],
    detect,
    getKind,
    decoder,
    checker: () => createChecker(name, detect, decoder),
  };
}

const run: RunInput = {
  runId: 'run-1',
  threadId: 'thread-1',
  messageId: 'message-1',
  startedAt: 0,
  history: [],
  answers: [],
  tools: [],
  context: [],
};

function createChecker(
  name: string,
  detect: (item: unknown) => boolean,
  decoder: DecodeOnlyDialectOptions['decoder'],
): Checker {
  let onLoss: OnLoss | undefined;
  const codec = compose(
    decoder(run, (loss) => onLoss?.(loss)),
    seal(run, (loss) => onLoss?.(loss)),
  );
  let isCut = false;
  return {
    feed(item, report) {
      onLoss = (loss) => report.loss(loss);
      if (!detect(item)) report.violation('item', `${name} has no such item.`);
      codec.feed(item, () => undefined);
    },
    end(report) {
      onLoss = (loss) => report.loss(loss);
      codec.end({ reason: 'eof' }, (event) => {
        isCut ||= event.type === 'run-end' && event.outcome === 'error' && asFields(event.error).code === 'truncated';
      });
      if (isCut) report.violation('end', 'The stream ends before the run.');
    },
  };
}

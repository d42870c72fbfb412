import { compose, seal, type AgentEvent, type Codec, type Dialect, type OnLoss, type RunInput } from '@intertie/core';
import type { Checker } from '@intertie/core/internal';
import { asFields } from '@intertie/core/internal';

interface ReadingDialectOptions {
  name: string;
  detect: (item: unknown) => boolean;
  getKind: (item: unknown) => string;
  decoder: (run: RunInput, onLoss: OnLoss) => Codec<unknown, AgentEvent>;
}

/**
 * A dialect that is only read, and has no rules of its own: to check it is to read it, and to say what was not understood and
 * whether it came to an end.
 */
export function readingDialect({ name, detect, getKind, decoder }: ReadingDialectOptions): Dialect {
  return {
    name,
    rules: [
      {
        id: 'item',
        sentence: 'Every item is one that the dialect has.',
        fix: 'Look at the item: it may be another stream’s, or one that a newer version of the runtime has.',
      },
      {
        id: 'end',
        sentence: 'The stream says how it ended.',
        fix: 'Read it to its end. If the connection was lost, the answer is not whole.',
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
  decoder: ReadingDialectOptions['decoder'],
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
      if (!detect(item)) report.violation('item', `${name} has no item like this one.`);
      codec.feed(item, () => undefined);
    },
    end(report) {
      onLoss = (loss) => report.loss(loss);
      codec.end({ reason: 'eof' }, (event) => {
        isCut ||= event.type === 'run-end' && event.outcome === 'error' && asFields(event.error).code === 'truncated';
      });
      if (isCut) report.violation('end', 'The stream ends, and the run has not.');
    },
  };
}

import type { RunInput } from '../event/run-input.ts';
import { asFields } from '../json/fields.ts';
import type { OnLoss } from '../json/loss.ts';
import { compose } from '../codec/codec.ts';
import type { Checker, Protocol, Rule } from './protocol.ts';
import { seal } from '../codec/seal.ts';

/** Rules of a protocol that can be decoded but has no rules of its own. */
export const decodingRules: readonly Rule[] = [
  {
    id: 'item',
    sentence: 'Every item belongs to the protocol.',
    fix: 'Check the item: it may belong to another stream or to a newer version of the runtime.',
  },
  {
    id: 'end',
    sentence: 'The stream contains the end of the run.',
    fix: 'Read it to its end. If the connection was lost, the answer is incomplete.',
  },
];

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

/** Creates a checker for `decodingRules`: decodes the stream and reports unknown items and a missing end. */
export function createDecodingChecker(
  name: string,
  isItem: (item: unknown) => boolean,
  decoder: NonNullable<Protocol['decoder']>,
): Checker {
  let onLoss: OnLoss | undefined;
  const forward: OnLoss = (loss) => onLoss?.(loss);
  const codec = compose(decoder(run, forward), seal(run, forward));
  return {
    feed(item, report) {
      onLoss = (loss) => report.loss(loss);
      if (!isItem(item)) report.violation('item', `${name} has no such item.`);
      codec.feed(item, () => undefined);
    },
    end(report) {
      onLoss = (loss) => report.loss(loss);
      let isCut = false;
      codec.end({ reason: 'eof' }, (event) => {
        isCut ||= event.type === 'run-end' && event.outcome === 'error' && asFields(event.error).code === 'truncated';
      });
      if (isCut) report.violation('end', 'The stream ends before the run.');
    },
  };
}

import {
  compose,
  seal,
  sourceStream,
  type AgentEvent,
  type AgentSource,
  type Codec,
  type OnLoss,
  type RunInput,
} from '@intertie/core';
import { createAGUIWriter, takeWriter, type AGUIWriter } from './ag-ui-writer.ts';
import { MergedParts } from './merge-writes.ts';
import { withWrites } from './with-writes.ts';

export interface WithAGUIWriterOptions {
  onLoss?: OnLoss;
}

/**
 * A source whose runs have a writer each, for its tools. What they write is in the run itself: it is kept where runs are
 * kept, and told to whoever follows. `make` is called for every run, and once for the source's name.
 */
export function withAGUIWriter(
  make: (writer: AGUIWriter) => AgentSource,
  { onLoss = () => undefined }: WithAGUIWriterOptions = {},
): AgentSource {
  const unwritten = make(createAGUIWriter());
  return {
    name: unwritten.name,
    pauses: unwritten.pauses,
    ...(unwritten.describe && { describe: () => unwritten.describe!() }),
    run(run, control) {
      const writer = createAGUIWriter();
      const source = make(writer);
      const queue = takeWriter(writer, onLoss);
      if (queue instanceof Error) throw queue;
      const codec = compose(withWrites(withoutOpening(run), queue, run), seal(run, onLoss));
      // The source itself is told to stop, and says how it ended.
      return sourceStream(new MergedParts(source.run(run, control), queue), codec);
    },
  };
}

/**
 * The events of a source without those that its seal has written first, from the same run: the seal behind this one writes
 * them, before anything that was written.
 */
function withoutOpening(run: RunInput): Codec<unknown, AgentEvent> {
  let isOpening = true;
  let hasBaseline = false;
  const answered = new Set(
    run.answers.map((answer) => ('questionId' in answer ? answer.questionId : answer.toolCallId)),
  );
  const isOpened = (event: AgentEvent): boolean => {
    switch (event.type) {
      case 'run-start':
        return true;
      case 'message-snapshot':
        if (hasBaseline || run.message === undefined) return false;
        hasBaseline = true;
        return true;
      case 'answer':
        return answered.has(event.questionId);
      case 'tool-result':
        return answered.has(event.toolCallId);
      case 'state-snapshot':
        return run.state !== undefined;
      default:
        return false;
    }
  };
  return {
    feed(fed, emit) {
      const event = fed as AgentEvent;
      if (isOpening && isOpened(event)) {
        // The state comes last.
        isOpening = event.type !== 'state-snapshot';
        return;
      }
      isOpening = false;
      emit(event);
    },
    end: () => undefined,
  };
}

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
import { override } from '@intertie/core/internal';
import { createAGUIWriter, bindWriter, type AGUIWriter } from './ag-ui-writer.ts';
import { MergedParts } from './merged-parts.ts';
import { withWrites } from './with-writes.ts';

export interface WithAGUIWriterOptions {
  onLoss?: OnLoss;
}

/**
 * Wraps a source so that each run has its own writer for its tools. Written events are part of the run: they are stored with
 * durable runs and sent to every client that follows. `make` is called once per run, and once for the source's name.
 */
export function withAGUIWriter(
  make: (writer: AGUIWriter) => AgentSource,
  { onLoss = () => undefined }: WithAGUIWriterOptions = {},
): AgentSource {
  const template = make(createAGUIWriter());
  const open = (
    run: RunInput,
    log: readonly AgentEvent[] | undefined,
    start: (source: AgentSource) => ReadableStream<AgentEvent>,
  ): ReadableStream<AgentEvent> => {
    const writer = createAGUIWriter();
    const source = make(writer);
    const queue = bindWriter(writer, onLoss);
    if (queue instanceof Error) throw queue;
    const codec = compose(withWrites(skipOpening(run, log), queue, run), seal(run, onLoss, log ? { log } : {}));
    // No signal: the source itself handles a stop and reports how the run ended.
    return sourceStream(new MergedParts(start(source), queue), codec);
  };
  return override(template, {
    run: (run, control) => open(run, undefined, (source) => source.run(run, control)),
    ...(template.resume && {
      resume: (run, from, control) => open(run, from.events, (source) => source.resume!(run, from, control)),
    }),
  });
}

/**
 * Drops the opening events that the source's own seal wrote. The outer seal writes them again, before all written events. A resumed
 * source writes only those that the log lacks.
 */
function skipOpening(run: RunInput, log: readonly AgentEvent[] = []): Codec<unknown, AgentEvent> {
  let isOpening = true;
  let hasBaseline = false;
  const answeredIds = new Set(
    run.answers.map((answer) => ('questionId' in answer ? answer.questionId : answer.toolCallId)),
  );
  const isOpeningEvent = (event: AgentEvent): boolean => {
    switch (event.type) {
      case 'run-start':
        return true;
      case 'message-snapshot':
        if (hasBaseline || run.message === undefined) return false;
        hasBaseline = true;
        return true;
      case 'answer':
        return answeredIds.has(event.questionId);
      case 'tool-result':
        return answeredIds.has(event.toolCallId);
      case 'state-snapshot':
        return run.state !== undefined;
      default:
        return false;
    }
  };
  const skip = (event: AgentEvent): boolean => {
    const isSkipped = isOpening && isOpeningEvent(event);
    // The state is the last opening event.
    isOpening = isSkipped && event.type !== 'state-snapshot';
    return isSkipped;
  };
  for (const event of log) skip(event);
  return {
    feed(fed, emit) {
      const event = fed as AgentEvent;
      if (!skip(event)) emit(event);
    },
    end: () => undefined,
  };
}

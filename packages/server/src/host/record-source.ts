import type { AgentDefinition, AgentEvent, AgentSource, RunInput } from '@intertie/core';
import { copySealedMark, override, pullStream } from '@intertie/core/internal';
import type { FrameRecorder } from './frame-recorder.ts';
import type { ModelCallRecorder } from './model-call-recorder.ts';

export type Recorders = { frames?: FrameRecorder | undefined; modelCalls?: ModelCallRecorder | undefined };

/** Creates the source of a definition. Each of its runs is served by a source of its own, which is recorded. */
export function createRecordedSource(
  name: string,
  definition: AgentDefinition,
  { frames, modelCalls }: Recorders,
): AgentSource {
  const plain = definition.createSource(name);
  if (!frames && !modelCalls) return plain;
  const record = (
    input: RunInput,
    open: (source: AgentSource) => ReadableStream<AgentEvent>,
  ): ReadableStream<AgentEvent> => {
    const recording = frames?.start(definition, input);
    const source = definition.createSource(name, recording?.onFrame, modelCalls?.start(definition, name, input));
    return recording ? observeEnd(open(source), recording.onEnd) : open(source);
  };
  return override(plain, {
    run: (input, control) => record(input, (source) => source.run(input, control)),
    ...(plain.resume && {
      resume: (input, from, control) => record(input, (source) => source.resume!(input, from, control)),
    }),
  });
}

/** Calls `onEnd` when the run ends, the stream fails, or its reader cancels. */
function observeEnd(stream: ReadableStream<AgentEvent>, onEnd: () => void): ReadableStream<AgentEvent> {
  const reader = stream.getReader();
  const observed = pullStream<AgentEvent>({
    async pull(emit) {
      const { done, value } = await reader.read();
      // Readers can stop after `run-end` without reading the end of the stream.
      if (done || value.type === 'run-end') onEnd();
      if (!done) emit(value);
      return !done;
    },
    cancel(reason) {
      onEnd();
      return reader.cancel(reason);
    },
  });
  copySealedMark(stream, observed);
  return observed;
}

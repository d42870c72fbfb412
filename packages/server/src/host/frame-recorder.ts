import type { AgentDefinition, AgentEvent, AgentSource, RunInput } from '@intertie/core';
import { capJson, copySealedMark, override, pullStream } from '@intertie/core/internal';

/** One frame of a runtime, as received. */
export type Frame = { index: number; at: number; dialect: string; frame: unknown };

/** Recorded frames of one run. They are JSON text, so that their size is known. */
type RecordedRun = { frames: string[]; length: number; hasEnded: boolean; wake: Set<() => void> };

const maxRuns = 50;
/** Maximum size of the frames of one run, in characters. Later frames are not recorded. */
const maxLength = 4_000_000;
const maxFrameBytes = 64_000;

/** Records the frames of the latest runs of this process in memory, for developers who debug a runtime. */
export class FrameRecorder {
  #runs = new Map<string, RecordedRun>();

  /** Creates the source of a definition and records the frames of its runs. */
  createSource(name: string, definition: AgentDefinition): AgentSource {
    const plain = definition.createSource(name);
    return override(plain, {
      run: (input, control) => this.#record(name, definition, input, (source) => source.run(input, control)),
      ...(plain.resume && {
        resume: (input, from, control) =>
          this.#record(name, definition, input, (source) => source.resume!(input, from, control)),
      }),
    });
  }

  /** Opens the events of a run on a source that serves only this run, and records its frames. */
  #record(
    name: string,
    definition: AgentDefinition,
    input: RunInput,
    open: (source: AgentSource) => ReadableStream<AgentEvent>,
  ): ReadableStream<AgentEvent> {
    const recorded = this.#startRun(input);
    const source = definition.createSource(name, (frame, index) => {
      if (recorded.length > maxLength) return;
      const { dialect } = definition;
      const entry: Frame = { index, at: Date.now(), dialect, frame: capJson(frame, maxFrameBytes) };
      const text = JSON.stringify(entry);
      recorded.length += text.length;
      recorded.frames.push(text);
      wakeReaders(recorded);
    });
    return observeEnd(open(source), () => {
      recorded.hasEnded = true;
      wakeReaders(recorded);
    });
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** Yields the recorded frames of a run, then new ones until it ends. */
  async *read(runId: string, signal: AbortSignal): AsyncGenerator<Frame> {
    const recorded = this.#runs.get(runId);
    if (!recorded) return;
    for (let next = 0; !signal.aborted;) {
      while (next < recorded.frames.length) yield JSON.parse(recorded.frames[next++]!) as Frame;
      if (recorded.hasEnded) return;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          recorded.wake.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        recorded.wake.add(done);
        signal.addEventListener('abort', done);
      });
    }
  }

  #startRun({ runId }: RunInput): RecordedRun {
    const recorded: RecordedRun = { frames: [], length: 0, hasEnded: false, wake: new Set() };
    this.#runs.delete(runId);
    this.#runs.set(runId, recorded);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= maxRuns) break;
      this.#runs.delete(oldest);
    }
    return recorded;
  }
}

function wakeReaders({ wake }: RecordedRun): void {
  for (const listener of wake) listener();
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

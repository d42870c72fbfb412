import type { AgentEvent, AgentSource, RunInput } from '@intertie/core';
import { capJson, copySealedMark, pullStream } from '@intertie/core/internal';
import type { AgentDefinition } from '../agents/agent-definition.ts';

/** One frame of a runtime, as it came, and its place. */
export type Frame = { index: number; at: number; dialect: string; frame: unknown };

/** Frames as JSON text, so that what they weigh is known. */
type KeptRun = { frames: string[]; length: number; isOver: boolean; wake: Set<() => void> };

const maxRuns = 50;
/** Of one run, in characters. What comes after that is not kept. */
const maxLength = 4_000_000;
const maxFrameBytes = 64_000;

/** The frames of the last runs of this process, in memory, for whoever looks at what a runtime really said. */
export class FrameKeeper {
  #runs = new Map<string, KeptRun>();

  /** The source of a definition, whose frames are kept by run. */
  createSource(name: string, definition: AgentDefinition): AgentSource {
    const plain = definition.createSource(name);
    return {
      name: plain.name,
      pauses: plain.pauses,
      ...(plain.describe && { describe: () => plain.describe!() }),
      run: (input, control) => {
        const kept = this.#keep(input);
        const source = definition.createSource(name, (frame, index) => {
          if (kept.length > maxLength) return;
          const { dialect } = definition;
          const entry: Frame = { index, at: Date.now(), dialect, frame: capJson(frame, maxFrameBytes) };
          const text = JSON.stringify(entry);
          kept.length += text.length;
          kept.frames.push(text);
          wakeAll(kept);
        });
        return observeEnd(source.run(input, control), () => {
          kept.isOver = true;
          wakeAll(kept);
        });
      },
    };
  }

  has(runId: string): boolean {
    return this.#runs.has(runId);
  }

  /** What is kept of a run, and what comes until it is over. */
  async *read(runId: string, signal: AbortSignal): AsyncGenerator<Frame> {
    const kept = this.#runs.get(runId);
    if (!kept) return;
    for (let next = 0; !signal.aborted;) {
      while (next < kept.frames.length) yield JSON.parse(kept.frames[next++]!) as Frame;
      if (kept.isOver) return;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          kept.wake.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        kept.wake.add(done);
        signal.addEventListener('abort', done);
      });
    }
  }

  #keep({ runId }: RunInput): KeptRun {
    const kept: KeptRun = { frames: [], length: 0, isOver: false, wake: new Set() };
    this.#runs.delete(runId);
    this.#runs.set(runId, kept);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= maxRuns) break;
      this.#runs.delete(oldest);
    }
    return kept;
  }
}

function wakeAll({ wake }: KeptRun): void {
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

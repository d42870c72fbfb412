import type { AgentDefinition, OnFrame, RunInput } from '@intertie/core';
import { capJson } from '@intertie/core/internal';

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

  /** Records the frames of a run. */
  start({ dialect }: AgentDefinition, input: RunInput): { onFrame: OnFrame; onEnd: () => void } {
    const recorded = this.#startRun(input);
    return {
      onFrame(frame, index) {
        if (recorded.length > maxLength) return;
        const entry: Frame = { index, at: Date.now(), dialect, frame: capJson(frame, maxFrameBytes) };
        const text = JSON.stringify(entry);
        recorded.length += text.length;
        recorded.frames.push(text);
        wakeReaders(recorded);
      },
      onEnd() {
        recorded.hasEnded = true;
        wakeReaders(recorded);
      },
    };
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

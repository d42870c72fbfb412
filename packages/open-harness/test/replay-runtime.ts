import type { RuntimeEvent } from '../src/runtime/runtime-event.ts';
import type { RunSnapshot, RuntimeCommand, RuntimeLike, RuntimeStatus } from '../src/runtime/runtime.ts';
import type { Trace } from './traces.ts';

/** Runtime that replays a recording. */
export class ReplayRuntime implements RuntimeLike {
  readonly listeners = new Set<(event: RuntimeEvent) => void>();
  readonly commands: RuntimeCommand[] = [];
  readonly inputs: unknown[] = [];
  status: RuntimeStatus = 'idle';
  #trace: Trace;
  #timing: 'timed' | 'immediate';

  constructor(trace: Trace, timing: 'timed' | 'immediate' = 'immediate') {
    this.#trace = trace;
    this.#timing = timing;
  }

  async run(input?: Record<string, unknown>): Promise<RunSnapshot> {
    this.inputs.push(input);
    this.status = 'running';
    const { events, thrown, snapshot = { status: 'complete' } } = this.#trace;
    let last: number | undefined;
    for (const event of events) {
      const { timestamp = 0 } = event;
      if (this.#timing === 'timed' && last !== undefined && timestamp > last) await after(timestamp - last);
      last = timestamp;
      for (const listener of this.listeners) listener(event);
    }
    if (thrown !== undefined) throw new Error(thrown);
    this.status = snapshot.status;
    return snapshot;
  }

  dispatch(command: RuntimeCommand): void {
    this.commands.push(command);
  }

  onEvent(listener: (event: RuntimeEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  getSnapshot(): RunSnapshot {
    return { ...this.#trace.snapshot, status: this.status };
  }
}

const after = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

import type { RuntimeEvent } from '../src/runtime/runtime-event.ts';
import type { RunSnapshot, RuntimeCommand, RuntimeLike, RuntimeStatus } from '../src/runtime/runtime.ts';

/** A runtime by hand: the test says what it says, and when its promise settles. */
export class ScriptRuntime implements RuntimeLike {
  readonly listeners = new Set<(event: RuntimeEvent) => void>();
  readonly commands: RuntimeCommand[] = [];
  readonly inputs: unknown[] = [];
  status: RuntimeStatus = 'idle';
  /** Unread messages, if the runtime reports them as the first generation does. */
  inbox: RuntimeCommand[] | undefined;
  /** What each `run()` does; the last one again and again. */
  #acts: Array<(runtime: ScriptRuntime) => Promise<RuntimeStatus>>;
  #stopped: (() => void) | undefined;

  constructor(...acts: Array<(runtime: ScriptRuntime) => Promise<RuntimeStatus>>) {
    this.#acts = acts;
  }

  run(input?: Record<string, unknown>): Promise<RunSnapshot> {
    this.inputs.push(input);
    const act = this.#acts[Math.min(this.inputs.length, this.#acts.length) - 1]!;
    this.status = 'running';
    return act(this).then((status) => {
      this.status = status;
      return this.getSnapshot();
    });
  }

  /** As the first generation does it: the flow's word first, the agent's later. */
  dispatch(command: RuntimeCommand): void {
    this.commands.push(command);
    if (command.type === 'send') this.inbox?.push(command);
    this.emit({ type: 'command:received', command });
    if (command.type === 'abort') {
      this.emit({ type: command.resumable ? 'flow:paused' : 'flow:aborted' });
      this.#stopped?.();
    }
    if (command.type === 'resume') this.emit({ type: 'flow:resumed' });
  }

  /** Until it is stopped. */
  stopped(): Promise<void> {
    return new Promise((resolve) => void (this.#stopped = resolve));
  }

  emit(...events: RuntimeEvent[]): void {
    for (const event of events) for (const listener of this.listeners) listener(event);
  }

  onEvent(listener: (event: RuntimeEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  getSnapshot(): RunSnapshot {
    return {
      runId: 'flow-run',
      status: this.status,
      nodeStatus: { a: 'pending', b: 'pending' },
      edgeStatus: { 'a->b': 'pending' },
      ...(this.inbox && { inbox: [...this.inbox] }),
    };
  }
}

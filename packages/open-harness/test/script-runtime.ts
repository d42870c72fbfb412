import type { RuntimeEvent } from '../src/runtime/runtime-event.ts';
import type { RunSnapshot, RuntimeCommand, RuntimeLike, RuntimeStatus } from '../src/runtime/runtime.ts';

/** Runtime whose events and results are scripted by a test. */
export class ScriptRuntime implements RuntimeLike {
  readonly listeners = new Set<(event: RuntimeEvent) => void>();
  readonly commands: RuntimeCommand[] = [];
  readonly inputs: unknown[] = [];
  status: RuntimeStatus = 'idle';
  /** Unread messages, if the runtime reports an inbox like the first generation. */
  inbox: RuntimeCommand[] | undefined;
  /** Script of each `run()`. The last one is repeated. */
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

  /** Emits the flow's event first and the agent's later, like the first generation. */
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

  /** Resolves when the runtime is stopped. */
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

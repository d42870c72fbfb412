import type { RuntimeEvent } from '../src/runtime/runtime-event.ts';
import type { RunSnapshot, RuntimeCommand, RuntimeLike, RuntimeStatus } from '../src/runtime/runtime.ts';

type Act = { message: unknown; runId: string };

/**
 * Second-generation runtime that follows the recordings `v0.2.0-f863b09`: methods instead of commands, no inbox, an agent's
 * final event after the pause, `flow:resumed` twice, a restarted node with a new id and without the flow's input, and tool
 * uses in two events without an id.
 */
export class SecondRuntime implements RuntimeLike {
  readonly listeners = new Set<(event: RuntimeEvent) => void>();
  readonly calls: string[] = [];
  status: RuntimeStatus = 'idle';
  #halt: ((how: 'paused' | 'aborted') => void) | undefined;
  #count = 0;
  /** Work of the node after its first delta. */
  #work: (act: Act, runtime: SecondRuntime) => Promise<void>;

  constructor(work: (act: Act, runtime: SecondRuntime) => Promise<void>) {
    this.#work = work;
  }

  run(input: Record<string, unknown> = {}): Promise<RunSnapshot> {
    this.calls.push(`run ${String(input['message'])}`);
    if (this.status !== 'idle') return Promise.reject(new Error(`Run is not resumable (${this.status})`));
    this.emit({ type: 'flow:start', flowName: 'chat' });
    return this.#invoke(input['message']);
  }

  pause(): void {
    this.calls.push('pause');
    if (this.status !== 'running') return;
    this.status = 'paused';
    this.emit({ type: 'flow:paused' });
    this.#halt?.('paused');
  }

  resume(message?: string): Promise<RunSnapshot> {
    this.calls.push(`resume ${message}`);
    if (this.status !== 'paused') return Promise.reject(new Error(`Runtime not paused (status: ${this.status})`));
    this.emit({ type: 'flow:resumed' }, { type: 'flow:resumed' });
    return this.#invoke(undefined);
  }

  stop(): void {
    this.calls.push('stop');
    if (this.status !== 'running') return;
    this.status = 'aborted';
    this.emit({ type: 'flow:aborted' });
    this.#halt?.('aborted');
  }

  dispatch(command: RuntimeCommand): void {
    if (command.type === 'pause') return this.pause();
    if (command.type === 'stop') return this.stop();
    throw new Error(`Unknown command: ${command.type}`);
  }

  emit(...events: RuntimeEvent[]): void {
    for (const event of events) for (const listener of this.listeners) listener(event);
  }

  onEvent(listener: (event: RuntimeEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  getSnapshot(): RunSnapshot {
    return { runId: 'flow-run', status: this.status, nodeStatus: { a: 'running' }, edgeStatus: {}, inbox: [] };
  }

  async #invoke(message: unknown): Promise<RunSnapshot> {
    this.status = 'running';
    this.#count += 1;
    const act = { message, runId: `n${this.#count}` };
    const at = { nodeId: 'a', runId: act.runId };
    this.emit({ type: 'node:start', ...at }, { type: 'agent:start', ...at, sessionId: 's1', prompt: String(message) });
    this.emit({ type: 'agent:text:delta', ...at, content: 'you ' });
    const halted = new Promise<'paused' | 'aborted'>((resolve) => void (this.#halt = resolve));
    const how = await Promise.race([halted, this.#work(act, this).then(() => 'complete' as const)]);
    if (how !== 'complete') {
      this.emit(
        how === 'paused'
          ? { type: 'agent:paused', ...at, sessionId: 's1' }
          : { type: 'agent:aborted', ...at, reason: 'abort' },
      );
      return this.getSnapshot();
    }
    const text = `you said ${String(message)}`;
    this.emit({ type: 'agent:text', ...at, content: text }, { type: 'node:complete', ...at, output: { text } });
    this.status = 'complete';
    this.emit({ type: 'flow:complete', flowName: 'chat', status: 'complete' });
    return this.getSnapshot();
  }
}

import {
  applyPatch,
  capJson,
  createPartIds,
  toJson,
  type AgentEvent,
  type Codec,
  type Emit,
  type End,
  type Fault,
  type Json,
  type OnLoss,
  type Op,
  type Outcome,
  type RunInput,
} from '@intertie/core';
import { defined, flagOf, isFields, nameOf, textOf } from '@intertie/core/fields';
import { Invocation, type Surroundings } from './invocation.ts';
import { dialect } from './open-harness-dialect.ts';
import { isImmerPatch, isServerEvent, type ServerEvent } from './server-event.ts';

export interface OpenHarnessServerDecoderOptions {
  /** Names of tools that the page has types for. All others are dynamic. */
  tools?: readonly string[];
  onLoss?: OnLoss;
}

/**
 * Decodes what the later server says of a session. It tells a whole answer in one burst at its end, with the true times in
 * its events; nothing of a failure; and nothing when the session is over but `workflow:completed`, after which it goes on
 * listening. So the run ends there, and what else may end it is the source's to notice.
 */
export function createOpenHarnessServerDecoder(
  run: RunInput,
  options: OpenHarnessServerDecoderOptions = {},
): Codec<unknown, AgentEvent> {
  return new ServerState(run, options);
}

class ServerState implements Codec<unknown, AgentEvent>, Surroundings {
  readonly ids: Surroundings['ids'];
  readonly onLoss: OnLoss;
  #run: RunInput;
  #staticTools: ReadonlySet<string>;
  #emit: Emit<AgentEvent> = () => undefined;
  #at: number | undefined;
  #isOver = false;
  #count = { agents: 0, steps: 0 };
  #phases = new Map<string, Invocation>();
  /** At work, by name: the wire has no other word for them. */
  #agents = new Map<string, Invocation>();
  #calls = new Map<string, string>();
  #questions = new Set<string>();
  #state: Json | undefined;
  #fault: Fault | undefined;

  constructor(run: RunInput, { tools = [], onLoss = () => undefined }: OpenHarnessServerDecoderOptions) {
    this.#run = run;
    this.onLoss = onLoss;
    this.ids = createPartIds(run);
    this.#staticTools = new Set(tools);
    this.#state = run.state;
  }

  say = (event: AgentEvent): void => {
    const isTimed = this.#at !== undefined && !event.type.endsWith('-delta');
    this.#emit(isTimed ? { ...event, at: this.#at as number } : event);
  };

  nextStepId(): string {
    this.#count.steps += 1;
    return `${this.#run.runId}:step-${this.#count.steps}`;
  }

  isStatic(toolName: string): boolean {
    return this.#staticTools.has(toolName);
  }

  feed(input: unknown, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    if (!isServerEvent(input)) return this.#raw(input);
    if (this.#isOver)
      return this.onLoss({ kind: 'late', what: input.name, why: 'It came after the workflow had ended.' });
    const { timestamp } = input;
    // A burst is told agent by agent, so times may go back.
    if (typeof timestamp === 'number' && timestamp > (this.#at ?? -Infinity)) this.#at = timestamp;
    const complaint = this.#take(input);
    if (complaint === undefined) return;
    this.#raw(input);
    const message = `The Open Harness server sent "${input.name}" ${complaint}, so it was passed over.`;
    this.say({ type: 'notice', level: 'warning', message, code: 'malformed' });
  }

  end(end: End, emit: Emit<AgentEvent>): void {
    this.#emit = emit;
    if (this.#isOver || end.reason !== 'eof') return;
    const open = [...this.#questions];
    if (open.length === 0) return this.#fault && this.#finish({ outcome: 'error', error: this.#fault });
    this.#finish({ outcome: 'paused', waitingFor: open.map((questionId) => ({ type: 'question', questionId })) });
  }

  #take({ name, payload }: ServerEvent): string | undefined {
    switch (name) {
      case 'workflow:started': {
        const workflow = nameOf(payload.workflow) ?? '';
        const sessionId = nameOf(payload.sessionId);
        this.say({ type: 'metadata', metadata: { flow: { name: workflow, ...defined({ sessionId }) } } });
        if (payload.input !== undefined) this.#withhold('workflow:started input', 'It is what the session was asked.');
        return undefined;
      }
      case 'workflow:completed': {
        const result = toJson(payload.finalState, this.onLoss);
        if (payload.finalState !== undefined) this.#snapshot(result);
        this.#finish({ outcome: 'complete' }, result);
        return undefined;
      }
      case 'phase:entered':
        return this.#phaseEntered(nameOf(payload.phase));
      case 'phase:exited':
        return this.#phaseExited(nameOf(payload.phase), payload.reason);
      case 'agent:started':
        return this.#agentStarted(nameOf(payload.agent), payload);
      case 'agent:completed':
        return this.#agentCompleted(nameOf(payload.agent), payload);
      case 'text:delta':
      case 'thinking:delta': {
        const delta = textOf(payload.delta);
        if (delta === undefined) return 'without a delta';
        this.#agent(payload.agent).delta(name === 'text:delta' ? 'text' : 'reasoning', delta);
        return undefined;
      }
      case 'tool:called':
        return this.#toolCalled(payload);
      case 'tool:result':
        return this.#toolResult(payload);
      case 'state:intent':
        return this.#intent(payload);
      case 'state:checkpoint':
        if (payload.state === undefined) return 'without a state';
        this.#snapshot(toJson(payload.state, this.onLoss));
        return undefined;
      case 'input:requested':
        return this.#requested(payload);
      case 'input:received':
        return this.#received(payload);
      case 'user:input':
        this.#withhold('user:input', 'It is what the session was asked.');
        return undefined;
      case 'error:occurred': {
        const message = nameOf(payload.message) ?? 'The workflow had an error and did not say which.';
        this.#fault = { message, ...defined({ code: nameOf(payload.code) }) };
        this.say({ type: 'notice', level: 'error', ...this.#fault });
        return undefined;
      }
      default:
        this.#raw({ name, payload });
        return undefined;
    }
  }

  #phaseEntered(phase: string | undefined): string | undefined {
    if (phase === undefined) return 'without a phase';
    const before = this.#phases.get(phase);
    if (before !== undefined) this.#endAgent(before, { outcome: 'complete' });
    this.#phases.set(phase, this.#start(phase, 'node', undefined));
    return undefined;
  }

  #phaseExited(phase: string | undefined, reason: unknown): string | undefined {
    const node = this.#phases.get(phase ?? '');
    if (node === undefined || phase === undefined) return 'of a phase that was not entered';
    for (const [name, agent] of this.#agents) {
      if (agent.parent !== node) continue;
      this.#agents.delete(name);
      this.#endAgent(agent, { outcome: 'complete' });
    }
    this.#phases.delete(phase);
    const fault: Fault = { message: `The phase "${phase}" failed.`, code: 'phase-error' };
    if (reason === 'error') this.#fault ??= fault;
    this.#endAgent(node, reason === 'error' ? { outcome: 'error', error: fault } : { outcome: 'complete' });
    return undefined;
  }

  #agentStarted(name: string | undefined, payload: ServerEvent['payload']): string | undefined {
    if (name === undefined) return 'without an agent';
    const atWork = this.#agents.get(name);
    if (atWork !== undefined) {
      // From here on nobody can say which of them speaks.
      const message = `"${name}" is at work several times at once, and the server does not tell them apart: they speak with one voice.`;
      this.say({ type: 'notice', level: 'warning', message, code: 'same-name', agentId: atWork.agentId });
      return undefined;
    }
    const agent = this.#start(name, 'agent', this.#phases.get(nameOf(payload.phase) ?? ''));
    this.#agents.set(name, agent);
    agent.startTurn();
    return undefined;
  }

  #agentCompleted(name: string | undefined, { output, durationMs }: ServerEvent['payload']): string | undefined {
    const agent = this.#agents.get(name ?? '');
    if (agent === undefined || name === undefined) return 'of an agent that had not started';
    this.#agents.delete(name);
    const meta = typeof durationMs === 'number' && { providerMetadata: { [dialect]: { durationMs } } };
    agent.endTurn({ finishReason: 'stop', ...meta });
    this.#endAgent(agent, { outcome: 'complete' }, output === undefined ? undefined : toJson(output, this.onLoss));
    return undefined;
  }

  #toolCalled({ agent, toolId, toolName, input }: ServerEvent['payload']): string | undefined {
    const who = this.#agent(agent);
    who.closeWords();
    const wireId = nameOf(toolId);
    const toolCallId = this.ids.open(wireId);
    if (wireId !== undefined) this.#calls.set(wireId, toolCallId);
    const name = nameOf(toolName) ?? 'unknown';
    this.say({
      type: 'tool-call',
      toolCallId,
      toolName: name,
      input: input === undefined ? {} : toJson(input, this.onLoss),
      executor: 'runtime',
      dynamic: !this.isStatic(name),
      agentId: who.agentId,
      stepId: who.step(),
    });
    return undefined;
  }

  #toolResult({ toolId, output, isError }: ServerEvent['payload']): string | undefined {
    const toolCallId = this.#calls.get(nameOf(toolId) ?? '');
    if (toolCallId === undefined) return 'of a call that was not made';
    if (isError === true) {
      const message = typeof output === 'string' && output !== '' ? output : JSON.stringify(capJson(output ?? null));
      this.say({ type: 'tool-result', toolCallId, status: 'error', error: { message } });
    } else this.say({ type: 'tool-result', toolCallId, status: 'ok', output: toJson(output ?? null, this.onLoss) });
    return undefined;
  }

  #intent({ patches, state }: ServerEvent['payload']): string | undefined {
    const list: unknown[] = Array.isArray(patches) ? patches : [];
    const patch: Op[] = list.filter(isImmerPatch).map(({ op, path, value }) => {
      const pointer = path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
      return op === 'remove' ? { op, path: pointer } : { op, path: pointer, value: toJson(value, this.onLoss) };
    });
    const patched = this.#state === undefined ? undefined : applyPatch(this.#state, patch);
    // Of what came before nothing may be known; the event has the whole state beside the patch.
    if (patched?.ok !== true || patch.length < list.length) {
      if (state === undefined) return 'with patches that cannot be applied';
      this.#snapshot(toJson(state, this.onLoss));
    } else if (patch.length > 0) {
      this.#state = patched.value;
      this.say({ type: 'state-delta', patch });
    }
    return undefined;
  }

  #snapshot(state: Json): void {
    this.#state = state;
    this.say({ type: 'state-snapshot', state });
  }

  #requested({ id, prompt, type, options }: ServerEvent['payload']): string | undefined {
    const questionId = nameOf(id);
    if (questionId === undefined) return 'without an id';
    const isChoice = type !== 'approval';
    const schema: Json | undefined = isChoice && Array.isArray(options) ? { enum: toJson(options) } : undefined;
    this.#questions.add(questionId);
    const message = nameOf(prompt);
    this.say({ type: 'question', questionId, kind: isChoice ? 'input' : 'approval', ...defined({ message, schema }) });
    return undefined;
  }

  #received({ id, value, approved }: ServerEvent['payload']): string | undefined {
    const questionId = nameOf(id);
    // One of the two routes publishes an answer that does not say to what.
    if (questionId === undefined || !this.#questions.delete(questionId)) return 'that answers no question';
    const given = { value: value === undefined ? undefined : toJson(value, this.onLoss), approved: flagOf(approved) };
    this.say({ type: 'answer', questionId, ...defined(given) });
    return undefined;
  }

  /** Whoever speaks unannounced has started. */
  #agent(wireName: unknown): Invocation {
    const name = nameOf(wireName) ?? 'agent';
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const agent = this.#start(name, 'agent', [...this.#phases.values()].at(-1));
    this.#agents.set(name, agent);
    return agent;
  }

  #start(name: string, kind: 'node' | 'agent', parent: Invocation | undefined): Invocation {
    this.#count.agents += 1;
    const agentId = `${this.#run.runId}:agent-${this.#count.agents}`;
    this.say({ type: 'agent-start', agentId, name, kind, ...defined({ parentAgentId: parent?.agentId }) });
    return new Invocation(this, { agentId, name, isSubAgent: kind === 'agent', parent });
  }

  #endAgent(agent: Invocation, outcome: Outcome, result?: Json): void {
    agent.endTurn();
    this.say({ type: 'agent-end', agentId: agent.agentId, ...outcome, ...defined({ result }) });
  }

  #finish(outcome: Outcome, result?: Json): void {
    const own: Outcome = outcome.outcome === 'paused' ? { outcome: 'paused', waitingFor: [] } : outcome;
    for (const agent of [...this.#agents.values(), ...[...this.#phases.values()].toReversed()])
      this.#endAgent(agent, own);
    this.#agents.clear();
    this.#phases.clear();
    this.#isOver = true;
    this.say({ type: 'run-end', ...outcome, ...defined({ result }) });
  }

  #withhold(what: string, why: string): void {
    this.onLoss({ kind: 'withheld', what, why });
  }

  #raw(value: unknown): void {
    const shown = isFields(value) || value === null ? value : { value };
    this.say({ type: 'raw', dialect, value: capJson(shown, undefined, this.onLoss) });
  }
}

import {
  asFields,
  asNonEmptyText,
  asText,
  isFields,
  type Checker,
  type Fields,
  type Report,
} from '@intertie/core/internal';
import { isInterrupted, isTerminal, taskStates } from '../shared/a2a-types.ts';
import type { A2ARule } from './a2a-rules.ts';

const kinds = ['task', 'message', 'statusUpdate', 'artifactUpdate'] as const;
const contents = ['text', 'raw', 'url', 'data'] as const;

/** Returns the kind of an item of an A2A stream, and the object. Also reads items in JSON-RPC responses. */
export function readItem(item: unknown): { kind: (typeof kinds)[number]; value: Fields } | undefined {
  const fields = asFields(item);
  const response = fields.jsonrpc === undefined ? fields : asFields(fields.result);
  const found = kinds.filter((kind) => isFields(response[kind]));
  return found.length === 1 ? { kind: found[0]!, value: asFields(response[found[0]!]) } : undefined;
}

/** Creates the checker of A2A streams. */
export function createA2AChecker(): Checker {
  return new A2AChecker();
}

class A2AChecker implements Checker {
  #first: 'task' | 'message' | undefined;
  #ids: { taskId: unknown; contextId: unknown } | undefined;
  #state: string | undefined;
  /** Artifacts that were sent. True: their last chunk, too. */
  #artifacts = new Map<string, boolean>();

  feed(item: unknown, report: Report): void {
    const violate = (rule: A2ARule, message: string, path?: string): void => report.violation(rule, message, path);
    if (isFields(asFields(item).error) && asFields(item).jsonrpc !== undefined) {
      this.#state = 'TASK_STATE_FAILED';
      return;
    }
    const read = readItem(item);
    if (!read) return violate('item', 'The item is not a StreamResponse.');
    const { kind, value } = read;
    const isMixed = this.#first === 'message' || (this.#first === 'task' && kind === 'message');
    if (isMixed) violate('message-only', `A ${kind} follows a ${this.#first}.`);
    else if (isTerminal(this.#state)) violate('after-end', `A ${kind} follows ${this.#state}.`);
    if (this.#first === undefined && kind !== 'task' && kind !== 'message') {
      violate('first', `The stream begins with a ${kind}.`);
    }
    this.#first ??= kind === 'message' ? 'message' : 'task';
    if (kind === 'message') return this.#checkParts(value.parts, violate);
    this.#checkIds(kind === 'task' ? { taskId: value.id, contextId: value.contextId } : value, violate);
    if (kind === 'artifactUpdate') return this.#checkArtifact(value.artifact, value, violate);
    for (const artifact of kind === 'task' && Array.isArray(value.artifacts) ? value.artifacts : []) {
      this.#checkArtifact(artifact, {}, violate);
    }
    this.#checkStatus(asFields(value.status), violate);
  }

  end(report: Report): void {
    if (this.#first === 'message' || isTerminal(this.#state) || isInterrupted(this.#state)) return;
    report.violation('end', `The last state is ${this.#state ?? 'unknown'}.`);
  }

  #checkIds({ taskId, contextId }: Fields, violate: Violate): void {
    if (asNonEmptyText(taskId) === undefined || asNonEmptyText(contextId) === undefined) {
      return violate('ids', 'The item lacks the id of its task or context.');
    }
    this.#ids ??= { taskId, contextId };
    if (taskId !== this.#ids.taskId) violate('ids', `Task ${String(taskId)} is not ${String(this.#ids.taskId)}.`);
    if (contextId !== this.#ids.contextId) {
      violate('ids', `Context ${String(contextId)} is not ${String(this.#ids.contextId)}.`);
    }
  }

  #checkStatus({ state, timestamp, message }: Fields, violate: Violate): void {
    this.#state = asText(state);
    if (!(taskStates as readonly unknown[]).includes(state)) violate('state', `${String(state)} is not a state.`);
    if (timestamp !== undefined && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(asText(timestamp) ?? '')) {
      violate('timestamp', `${JSON.stringify(timestamp)} is not an ISO 8601 time in UTC.`);
    }
    if (message !== undefined) this.#checkParts(asFields(message).parts, violate);
  }

  #checkArtifact(artifact: unknown, { append, lastChunk }: Fields, violate: Violate): void {
    const { artifactId, parts } = asFields(artifact);
    const id = asNonEmptyText(artifactId);
    if (id === undefined) return violate('artifact', 'The artifact has no id.');
    if (!Array.isArray(parts) || parts.length === 0) violate('artifact', `Artifact ${id} has no parts.`);
    this.#checkParts(parts, violate);
    if (append === true && !this.#artifacts.has(id)) violate('append', `Artifact ${id} was not sent before.`);
    if (append === true && this.#artifacts.get(id)) violate('last-chunk', `Artifact ${id} was complete.`);
    this.#artifacts.set(id, lastChunk === true);
  }

  #checkParts(parts: unknown, violate: Violate): void {
    for (const [index, part] of (Array.isArray(parts) ? parts : []).entries()) {
      const found = contents.filter((name) => asFields(part)[name] !== undefined);
      if (found.length !== 1) violate('part', `A part has ${found.join(' and ') || 'no content'}.`, `parts.${index}`);
    }
  }
}

type Violate = (rule: A2ARule, message: string, path?: string) => void;

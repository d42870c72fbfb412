import type { Dialect } from '@intertie/core';
import type { Checker, Report } from '@intertie/core/internal';
import { createOpenHarnessDecoder } from './decode-open-harness.ts';
import { dialect } from './dialect-name.ts';
import { isFields, asNonEmptyText, asText, type Fields } from '@intertie/core/internal';
import { openHarnessRules, type OpenHarnessRule } from './open-harness-rules.ts';
import { isTerminalEvent, type RuntimeEvent } from '../runtime/runtime-event.ts';

/** The events, and the fields without which they say nothing. */
const fieldsOf: { readonly [Type in RuntimeEvent['type']]: readonly string[] } = {
  'flow:start': ['flowName'],
  'flow:complete': ['flowName', 'status'],
  'flow:paused': [],
  'flow:resumed': [],
  'flow:aborted': [],
  'node:start': ['nodeId', 'runId'],
  'node:complete': ['nodeId', 'runId'],
  'node:error': ['nodeId', 'runId', 'error'],
  'node:skipped': ['nodeId'],
  'edge:fire': ['from', 'to'],
  'loop:iterate': ['iteration'],
  'state:patch': ['patch'],
  'command:received': ['command'],
  'agent:start': ['nodeId', 'runId'],
  'agent:thinking:delta': ['nodeId', 'runId', 'content'],
  'agent:thinking': ['nodeId', 'runId', 'content'],
  'agent:text:delta': ['nodeId', 'runId', 'content'],
  'agent:text': ['nodeId', 'runId', 'content'],
  'agent:tool': ['nodeId', 'runId'],
  'agent:error': ['nodeId', 'runId', 'message'],
  'agent:complete': ['nodeId', 'runId'],
  'agent:paused': ['nodeId', 'runId'],
  'agent:aborted': ['nodeId', 'runId'],
  'recording:linked': [],
};
const known: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(fieldsOf));

/** What a graph runtime of either generation tells its listeners, as a dialect: an item is an event. */
export const openHarnessDialect: Dialect<RuntimeEvent> = {
  name: dialect,
  rules: openHarnessRules,
  detect: (item) => isFields(item) && known.has(asNonEmptyText(item.type) ?? '') && typeof item.timestamp === 'number',
  getKind: (item) => (isFields(item) ? asNonEmptyText(item.type) : undefined) ?? 'no type',
  checker: () => new OpenHarnessChecker(),
  decoder: (run, onLoss) => createOpenHarnessDecoder(run, { onLoss }),
};

class OpenHarnessChecker implements Checker {
  #nodes = new Set<string>();
  /** What the deltas of an open block have said, by invocation and kind. */
  #said = new Map<string, string>();
  #isComplete = false;
  #isAtRest = false;

  feed(item: unknown, report: Report): void {
    const say = (rule: OpenHarnessRule, message: string): void => report.violation(rule, message);
    if (!isFields(item) || typeof item.type !== 'string') return say('event', 'The item has no type.');
    const { type } = item;
    if (this.#isComplete) say('late', `"${type}" comes after flow:complete.`);
    const fields = known.get(type);
    if (fields === undefined) {
      return report.loss({ kind: 'unsupported', what: type, why: 'No runtime that is known has such an event.' });
    }
    const missing = fields.filter((field) => item[field] === undefined);
    if (missing.length > 0) return say('fields', `"${type}" has no ${missing.join(' and no ')}.`);
    this.#node(type, item, say);
    this.#words(type, item, say);
    this.#isComplete ||= type === 'flow:complete';
    if (type.startsWith('flow:')) this.#isAtRest = isTerminalEvent({ type });
  }

  end(report: Report): void {
    if (!this.#isAtRest) report.violation('end', 'The events end, and the flow has not said that it does.');
  }

  #node(type: string, { runId }: Fields, say: (rule: OpenHarnessRule, message: string) => void): void {
    const key = asText(runId) ?? '';
    if (type === 'node:start') this.#nodes.add(key);
    if (type !== 'node:complete' && type !== 'node:error') return;
    if (!this.#nodes.delete(key)) say('node', `"${type}" is of an invocation that is not at work.`);
  }

  #words(type: string, { runId, content }: Fields, say: (rule: OpenHarnessRule, message: string) => void): void {
    const [, kind, isDelta] = /^agent:(text|thinking)(:delta)?$/.exec(type) ?? [];
    if (kind === undefined) return;
    const block = `${asText(runId)} ${kind}`;
    const said = this.#said.get(block);
    if (isDelta) return void this.#said.set(block, (said ?? '') + asText(content));
    this.#said.delete(block);
    if (said !== undefined && said !== content) say('whole', `"${type}" is not what its deltas have said.`);
  }
}

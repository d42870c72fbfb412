import type { Checker, Report } from '@intertie/core/internal';
import { isFields, asText, type Fields } from '@intertie/core/internal';
import type { OpenHarnessRule } from './open-harness-rules.ts';
import { isTerminalEvent, type RuntimeEvent } from '../runtime/runtime-event.ts';

/** Required fields by event type. */
const requiredFields: { readonly [Type in RuntimeEvent['type']]: readonly string[] } = {
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
const known: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(requiredFields));

/** Checks the events that a graph runtime of either generation emits to its listeners. An item is an event. */
export class OpenHarnessChecker implements Checker {
  #nodes = new Set<string>();
  /** Joined deltas of open blocks, by invocation and kind. */
  #deltaText = new Map<string, string>();
  #isComplete = false;
  #isEnded = false;

  feed(item: unknown, report: Report): void {
    const violate = (rule: OpenHarnessRule, message: string): void => report.violation(rule, message);
    if (!isFields(item) || typeof item.type !== 'string') return violate('event', 'The item has no type.');
    const { type } = item;
    if (this.#isComplete) violate('late', `"${type}" follows flow:complete.`);
    const fields = known.get(type);
    if (fields === undefined) {
      return report.loss({ kind: 'unsupported', what: type, why: 'No known runtime has such an event.' });
    }
    const missing = fields.filter((field) => item[field] === undefined);
    if (missing.length > 0) return violate('fields', `"${type}" has no ${missing.join(' and no ')}.`);
    this.#checkNode(type, item, violate);
    this.#checkText(type, item, violate);
    this.#isComplete ||= type === 'flow:complete';
    if (type.startsWith('flow:')) this.#isEnded = isTerminalEvent({ type });
  }

  end(report: Report): void {
    if (!this.#isEnded) report.violation('end', 'The events ended before the flow.');
  }

  #checkNode(type: string, { runId }: Fields, violate: (rule: OpenHarnessRule, message: string) => void): void {
    const key = asText(runId) ?? '';
    if (type === 'node:start') this.#nodes.add(key);
    if (type !== 'node:complete' && type !== 'node:error') return;
    if (!this.#nodes.delete(key)) violate('node', `"${type}" belongs to an invocation that is not running.`);
  }

  #checkText(
    type: string,
    { runId, content }: Fields,
    violate: (rule: OpenHarnessRule, message: string) => void,
  ): void {
    const [, kind, isDelta] = /^agent:(text|thinking)(:delta)?$/.exec(type) ?? [];
    if (kind === undefined) return;
    const block = `${asText(runId)} ${kind}`;
    const streamed = this.#deltaText.get(block);
    if (isDelta) return void this.#deltaText.set(block, (streamed ?? '') + asText(content));
    this.#deltaText.delete(block);
    if (streamed !== undefined && streamed !== content) violate('whole', `"${type}" differs from its deltas.`);
  }
}

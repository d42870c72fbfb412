import { EventType } from '@ag-ui/core';
import type { Checker, Report } from '@intertie/core/internal';
import type { AGUIRule, Complain } from './ag-ui-rules.ts';
import { CallChecker } from './check-calls.ts';
import { checkFields } from './check-fields.ts';
import { FormChecker } from './check-forms.ts';
import { OwnerChecker } from './check-owners.ts';
import { ProducerChecker } from './check-producer.ts';
import { DuplicateContentChecker } from './check-duplicate-content.ts';
import { ValueChecker } from './check-values.ts';
import { expandChunks } from '../decode/expand-chunks.ts';
import { asFields, isFields, asText, type Fields } from '../shared/read-fields.ts';

const types: ReadonlySet<string> = new Set(Object.values(EventType));

/** Creates a checker that reports which rules a stream of AG-UI events breaks, fatal ones and conventions. */
export function createAGUIChecker(): Checker {
  let current: Complain | undefined;
  const forms = new FormChecker();
  const chunks = expandChunks({
    conflict: (id, field) =>
      current?.(
        field === 'subagentRunId' ? 'owner' : 'chunk-conflict',
        `${field} of ${id} differs from the first chunk.`,
      ),
    ambiguous: (type, count) => current?.('chunk-ambiguous', `${type} could continue any of ${count} open ones.`),
  });
  const state = new RunChecker();
  return {
    feed(item, report) {
      const complain: Complain = (rule, message) => report.violation(rule, message);
      if (!isFields(item) || typeof item.type !== 'string')
        return complain('shape', 'An event is an object with a type.');
      if (!types.has(item.type)) return complain('known-type', `${item.type} is not an event type of AG-UI 1.0.`);
      checkFields(item, complain);
      forms.feed(item, complain);
      current = complain;
      chunks.feed(item, (event) => state.feed(event, complain));
    },
    end(report: Report) {
      chunks.end({ reason: 'eof' }, (event) => state.feed(event, (rule, message) => report.violation(rule, message)));
      if (state.isActive) report.violation('terminal' satisfies AGUIRule, 'The stream ended before the run.');
    },
  };
}

/** Checks the order of events and tracks what is open in a run. */
class RunChecker {
  isActive = false;
  #ended: 'finished' | 'failed' | undefined;
  #ids: Fields = {};
  #texts = new Set<string>();
  #calls = new Set<string>();
  #spans = new Set<string>();
  #reasoning = new Set<string>();
  #steps = new Set<string>();
  #subagents = new Map<string, 'active' | 'over'>();
  #checks: ReadonlyArray<{ feed(event: Fields, complain: Complain): void }> = [
    new OwnerChecker(),
    new ProducerChecker(),
    new CallChecker(),
    new DuplicateContentChecker(),
    new ValueChecker(),
  ];

  feed(event: Fields, complain: Complain): void {
    const type = String(event.type);
    if (!this.#checkOrder(type, complain)) return;
    for (const checks of this.#checks) checks.feed(event, complain);
    switch (type) {
      case 'RUN_STARTED':
        return this.#start(event);
      case 'RUN_FINISHED':
        return this.#finish(event, complain);
      case 'RUN_ERROR':
        this.isActive = false;
        this.#ended = 'failed';
        return;
      case 'TEXT_MESSAGE_START':
        return openScope(this.#texts, String(event.messageId), 'text-open', complain);
      case 'TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_END':
        return checkScope(this.#texts, String(event.messageId), type, 'text-known', complain);
      case 'TOOL_CALL_START':
        if (event.toolCallName === undefined) complain('chunk-id', `${String(event.toolCallId)} has no name.`);
        return openScope(this.#calls, String(event.toolCallId), 'call-open', complain);
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_END':
        return checkScope(this.#calls, String(event.toolCallId), type, 'call-known', complain);
      case 'REASONING_START':
        return openScope(this.#spans, String(event.messageId), 'reasoning-open', complain);
      case 'REASONING_END':
        return checkScope(this.#spans, String(event.messageId), type, 'reasoning-known', complain);
      case 'REASONING_MESSAGE_START':
        return openScope(this.#reasoning, String(event.messageId), 'reasoning-open', complain);
      case 'REASONING_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_END':
        return checkScope(this.#reasoning, String(event.messageId), type, 'reasoning-known', complain);
      case 'STEP_STARTED':
        return openScope(this.#steps, toStepKey(event), 'step-open', complain);
      case 'STEP_FINISHED':
        return checkScope(this.#steps, toStepKey(event), type, 'step-known', complain);
      case 'SUBAGENT_STARTED':
        return this.#subagentStart(event, complain);
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return this.#subagentEnd(String(event.subagentRunId), complain);
      case 'TEXT_MESSAGE_CHUNK':
      case 'TOOL_CALL_CHUNK':
      case 'REASONING_MESSAGE_CHUNK':
        return complain('chunk-id', `${type} has no id, and there is no chunk to continue.`);
      default:
    }
  }

  /** Returns whether the event is allowed at this point of the stream. */
  #checkOrder(type: string, complain: Complain): boolean {
    if (this.isActive) {
      if (type !== 'RUN_STARTED') return true;
      complain('run-once', 'The previous run has not ended.');
      return false;
    }
    if (type === 'RUN_STARTED') return true;
    if (this.#ended === undefined) {
      if (type === 'RUN_ERROR') return true;
      complain('run-first', `The stream begins with ${type}.`);
    } else if (this.#ended === 'failed') complain('after-error', `${type} comes after RUN_ERROR.`);
    else if (type === 'RUN_ERROR') return true;
    else complain('after-finish', `${type} comes after RUN_FINISHED.`);
    return false;
  }

  #start(event: Fields): void {
    for (const ids of [this.#texts, this.#calls, this.#spans, this.#reasoning, this.#steps]) ids.clear();
    this.#subagents.clear();
    this.isActive = true;
    this.#ids = event;
  }

  #finish(event: Fields, complain: Complain): void {
    const active = [...this.#subagents].flatMap(([id, is]) => (is === 'active' ? [id] : []));
    const unclosed = [...this.#steps, ...this.#texts, ...this.#reasoning, ...this.#spans, ...this.#calls, ...active];
    if (unclosed.length > 0) complain('finish-closed', `Still open: ${unclosed.join(', ')}.`);
    if (event.runId !== this.#ids.runId || event.threadId !== this.#ids.threadId) {
      complain('run-ids', `It ends ${String(event.runId)}, but ${String(this.#ids.runId)} was started.`);
    }
    const { interrupts } = asFields(event.outcome);
    const ids = Array.isArray(interrupts) ? interrupts.map((interrupt) => asFields(interrupt).id) : [];
    if (new Set(ids).size < ids.length) complain('interrupt-ids', 'Two interrupts have the same id.');
    this.isActive = false;
    this.#ended = 'finished';
  }

  #subagentStart(event: Fields, complain: Complain): void {
    const id = String(event.subagentRunId);
    const parent = asText(event.parentSubagentRunId);
    if (this.#subagents.has(id)) complain('subagent-once', `${id} has already started.`);
    else if (parent !== undefined && !this.#subagents.has(parent))
      complain('subagent-parent', `${parent} has not started.`);
    this.#subagents.set(id, 'active');
  }

  #subagentEnd(id: string, complain: Complain): void {
    if (this.#subagents.get(id) !== 'active') complain('subagent-known', `${id} is not active.`);
    else this.#subagents.set(id, 'over');
  }
}

/** Opens a message, call or step. Reports it if it is already open. */
function openScope(ids: Set<string>, id: string, rule: AGUIRule, complain: Complain): void {
  if (ids.has(id)) complain(rule, `${id} is already open.`);
  ids.add(id);
}

/** Reports an event whose message, call or step is not open. Closes it at its end event. */
function checkScope(ids: Set<string>, id: string, type: string, rule: AGUIRule, complain: Complain): void {
  if (!ids.has(id)) complain(rule, `${type} names ${id}, which is not open.`);
  else if (!/_(?:CONTENT|ARGS)$/.test(type)) ids.delete(id);
}

function toStepKey(event: Fields): string {
  return JSON.stringify([event.subagentRunId ?? null, event.stepName]);
}

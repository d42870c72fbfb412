import type { Checker, Report } from '@intertie/core/internal';
import { asFields, asNonEmptyText, parseJson, type Fields } from '../shared/fields.ts';
import type { MAILRule } from './mail-rules.ts';
import { loggedEvents, wireEvents } from '../shared/mail-event.ts';

const logged: ReadonlySet<string> = new Set(loggedEvents);
const events: ReadonlySet<string> = new Set(wireEvents);

/** Checks the event stream of a MAIL 1.3 server. An item is a frame, `{ event, data }`. */
export class MAILChecker implements Checker {
  #taskId: string | undefined;
  #isAnswered = false;
  #isPaused = false;
  #isFailed = false;
  #isOver = false;

  feed(item: unknown, report: Report): void {
    const { event, data } = asFields(item);
    const violate = (rule: MAILRule, message: string): void => report.violation(rule, message);
    if (typeof event !== 'string') return violate('frame', 'The item has no event name.');
    const parsed = typeof data === 'string' ? parseJson(data) : data;
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
      return violate('json', `The data of "${event}" is not a JSON object.`);
    }
    const fields = parsed as Fields;
    if (this.#isOver && event !== 'ping') violate('end', `"${event}" follows the final event.`);
    if (!events.has(event))
      return report.loss({ kind: 'unsupported', what: event, why: 'MAIL 1.3 has no such event.' });
    this.#checkTask(event, fields, violate);
    if (logged.has(event) && typeof fields.description !== 'string') {
      violate('description', `"${event}" has no description.`);
    }
    this.#checkProgress(event, fields, violate);
  }

  end(report: Report): void {
    if (this.#isOver || this.#isPaused || this.#isFailed) return;
    report.violation('end', 'The stream ended before the task.');
  }

  #checkTask(event: string, { task_id: taskId }: Fields, violate: (rule: MAILRule, message: string) => void): void {
    // Pings that we insert for timeouts have no task.
    if (event === 'ping' && taskId === undefined) return;
    if (typeof taskId !== 'string' || taskId === '') return violate('task', `"${event}" does not name its task.`);
    this.#taskId ??= taskId;
    if (taskId !== this.#taskId)
      violate('task', `"${event}" belongs to the task ${taskId}, but the stream belongs to ${this.#taskId}.`);
  }

  #checkProgress(event: string, data: Fields, violate: (rule: MAILRule, message: string) => void): void {
    const extra = asFields(data.extra_data);
    switch (event) {
      case 'new_message': {
        const { msg_type: type, message } = asFields(extra.full_message);
        if (typeof type !== 'string' || message === undefined)
          violate('message', 'The new_message has no full_message.');
        this.#isAnswered ||= type === 'broadcast_complete';
        return;
      }
      case 'tool_call':
        if (asNonEmptyText(extra.tool_name) === undefined) violate('tool', 'The tool_call has no tool_name.');
        return;
      case 'breakpoint_tool_call':
        this.#isPaused = true;
        return;
      case 'task_error':
        this.#isFailed = true;
        this.#isOver = typeof data.response === 'string';
        return;
      case 'task_complete_call_duplicate':
        if (!this.#isAnswered) violate('resume', 'The task was already complete, so the message reaches no agent.');
        return;
      case 'task_complete':
        this.#isOver = true;
        if (!this.#isAnswered && !this.#isPaused && !this.#isFailed) {
          violate('answer', 'The task is complete, but no agent has answered.');
        }
    }
  }
}

import type { MAILAgentEvent, MAILPlainEvent } from '../shared/agent-event.ts';
import { MAILLanguageModel } from './mail-language-model.ts';

/**
 * Every event of a model's call, beside its text: of the one that is under way, else of the next one, up to its end. A call
 * that pauses at a tool ends there; loop again for the step that follows.
 */
export function mailEvents(model: object): AsyncIterable<MAILAgentEvent | MAILPlainEvent> {
  if (model instanceof MAILLanguageModel) return model.events();
  throw new TypeError('mailEvents takes a model of mail(…). If it is wrapped by middleware, pass the inner one.');
}

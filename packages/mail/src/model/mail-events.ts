import type { MAILAgentEvent, MAILPlainEvent } from '../shared/agent-event.ts';
import { MAILLanguageModel } from './mail-language-model.ts';

/**
 * Iterates over every event of a model's current call, or of its next one. A call that pauses at a tool ends the iteration;
 * call `mailEvents` again for the next step.
 */
export function mailEvents(model: object): AsyncIterable<MAILAgentEvent | MAILPlainEvent> {
  if (model instanceof MAILLanguageModel) return model.events();
  throw new TypeError('mailEvents requires a model of mail(…). If middleware wraps it, pass the inner model.');
}

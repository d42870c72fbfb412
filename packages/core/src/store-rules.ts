/** The rules that every store keeps, for those who write one: `@intertie/core/store-rules`. */
export {
  answeredId,
  isAnswerTo,
  isAwaited,
  isSameAnswer,
  readAnswer,
  readDecisions,
} from './store-rules/decision-rules.ts';
export { keepJson, readContent, readJson, readMessage } from './store-rules/read-message.ts';

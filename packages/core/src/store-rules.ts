/** The rules that every store keeps, for those who write one: `@intertie/core/store-rules`. */
export { replaceMessage } from './message/grow-message.ts';
export { checkContinuation, checkStart } from './store/rules/check-request.ts';
export {
  answeredId,
  isAnswerTo,
  isAwaited,
  isSameAnswer,
  judgeAnswer,
  readAnswer,
  readDecisions,
} from './store/rules/decision-rules.ts';
export { defaultLeaseMs } from './store/default-lease.ts';
export { toLogText } from './store/rules/log-text.ts';
export { keepJson, readContent, readJson, readMessage } from './store/rules/read-message.ts';
export { readMode, type SaveMode } from './store/rules/save-mode.ts';
export { checkStoreText, isStoreText } from './store/store-text.ts';

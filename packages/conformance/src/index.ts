export { canonical } from './checker/canonical.ts';
export { check, startCheck } from './checker/check.ts';
export type { CheckReport, FoundViolation, RunningCheck } from './checker/check.ts';

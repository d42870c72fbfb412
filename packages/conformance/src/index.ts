export { canonical } from './canonical.ts';
export { check, startCheck } from './check.ts';
export type { CheckReport, FoundViolation, RunningCheck } from './check.ts';

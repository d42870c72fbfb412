export { canonical } from './checker/canonical.ts';
export { check, createStreamChecker } from './checker/check.ts';
export type { CheckReport, ReportedViolation, StreamChecker } from './checker/check.ts';

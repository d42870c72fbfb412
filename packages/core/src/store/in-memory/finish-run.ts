import { equalJson } from '../../json/json-patch.ts';
import type { Json } from '../../json/json.ts';
import type { FinishRequest, FinishResult, Ownership } from '../registry.ts';
import { readDecisions } from '../rules/decision-rules.ts';
import { toNearestJson, readContent } from '../rules/read-message.ts';
import { continueRun, readContinuation } from './continue-run.ts';
import { changeMessage, nextVersion } from './conversation.ts';
import {
  abandonRun,
  closeDecisions,
  isAnswered,
  isAwaiting,
  hasFailedDecision,
  openDecisions,
  withAnswers,
} from './decision-row.ts';
import { appendEvents } from './in-memory-run-log.ts';
import { endRun, isUntouched, toOwnership } from './run-row.ts';
import type { RunRow, Tables } from './tables.ts';

/** Ends a run with its log and message; see `Registry.finish`. */
export function finishRun(tables: Tables, run: RunRow, epoch: number, end: FinishRequest): FinishResult {
  const isWritten = end.detachedLog || run.nextSeq === end.nextSeq;
  if (!run.live || run.epoch !== epoch || !isWritten) return readRepeatedFinish(run, epoch, end);
  const { process, stopRequestedAt, stopReason = 'stopped' } = run.live;
  const content = readContent(end.content);
  const outcome = toNearestJson(end.outcome);
  const continuation = end.continuation && readContinuation(run, toNearestJson(end.continuation));
  const decisions = readDecisions(end.decisions ?? []);
  const usage = end.usage && toNearestJson(end.usage);
  const states = {
    ...(end.state !== undefined && { state: toNearestJson(end.state) }),
    ...(end.sourceState !== undefined && { sourceState: toNearestJson(end.sourceState) }),
  };
  if (end.detachedLog) run.nextSeq = end.nextSeq + end.events.length;
  else appendEvents(run, end.events);
  // Everything that can throw is done, so the rest is atomic.
  if (outcome.outcome === 'paused') openDecisions(tables, run, decisions);
  endRun(tables, run, outcome);
  if (usage) run.usage = usage;
  const version = nextVersion(tables, run.thread);
  changeMessage(run.message, { ...states, content: withAnswers(run, content), status: outcome.outcome }, version);
  closeDecisions(tables, run);
  if (hasFailedDecision(run)) abandonRun(tables, run, 'expired', version);
  // A stop request, for example to replace the run, also rules out a continuation.
  if (stopRequestedAt !== undefined && isAwaiting(run)) abandonRun(tables, run, stopReason, version);
  const next = continuation && isAnswered(run) ? continueRun(tables, run, continuation, version) : undefined;
  tables.hints.publish({ type: 'flushed', process });
  return toFinishResult(run, next?.ownership);
}

function toFinishResult(run: RunRow, continuation: Ownership | undefined): FinishResult {
  const message = structuredClone(run.message.message);
  return { result: 'ok', message, ...(continuation && { continuation }) };
}

/** Repeats the result of a call whose reply was lost, with the continuation if no other process has taken it since. */
function readRepeatedFinish(run: RunRow, epoch: number, end: FinishRequest): FinishResult {
  const isSame =
    run.endedAt !== undefined &&
    run.epoch === epoch &&
    run.nextSeq === end.nextSeq + end.events.length &&
    equalJson(run.outcome as Json, toNearestJson(end.outcome));
  if (!isSame || run.message.deleted) return { result: 'fenced' };
  const next = run.continuation;
  return toFinishResult(run, next && isUntouched(next, end.continuation?.process) ? toOwnership(next) : undefined);
}

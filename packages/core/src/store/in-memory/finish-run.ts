import { equalJson } from '../../json/json-patch.ts';
import type { Json } from '../../json/json.ts';
import type { FinishRequest, FinishResult, Ownership } from '../registry.ts';
import { readDecisions } from '../rules/decision-rules.ts';
import { toNearestJson, readContent } from '../rules/read-message.ts';
import { continueRun, readContinuation } from './continue-run.ts';
import { changeMessage, nextVersion } from './conversation.ts';
import {
  abandon,
  closeDecisions,
  isAnswered,
  isAwaiting,
  isHopeless,
  openDecisions,
  withAnswers,
} from './decision-row.ts';
import { appendEvents } from './in-memory-run-log.ts';
import { endRun, isUntouched, ownershipOf } from './run-row.ts';
import type { RunRow, Tables } from './tables.ts';

export function finishRun(tables: Tables, run: RunRow, epoch: number, end: FinishRequest): FinishResult {
  const isWritten = end.detachedLog || run.nextSeq === end.nextSeq;
  if (!run.live || run.epoch !== epoch || !isWritten) return repeated(run, epoch, end);
  const { process, stopRequestedAt, stopReason = 'stopped' } = run.live;
  const content = readContent(end.content);
  const outcome = toNearestJson(end.outcome);
  const continuation = end.continuation && readContinuation(run, toNearestJson(end.continuation));
  const decisions = readDecisions(end.decisions ?? []);
  const usage = end.usage && toNearestJson(end.usage);
  const beside = {
    ...(end.state !== undefined && { state: toNearestJson(end.state) }),
    ...(end.sourceState !== undefined && { sourceState: toNearestJson(end.sourceState) }),
  };
  if (end.detachedLog) run.nextSeq = end.nextSeq + end.events.length;
  else appendEvents(run, end.events);
  // What may fail is done: the rest is one step.
  if (outcome.outcome === 'paused') openDecisions(tables, run, decisions);
  endRun(tables, run, outcome);
  if (usage) run.usage = usage;
  const version = nextVersion(tables, run.thread);
  changeMessage(run.message, { ...beside, content: withAnswers(run, content), status: outcome.outcome }, version);
  closeDecisions(tables, run);
  if (isHopeless(run)) abandon(tables, run, 'expired', version);
  // Whoever asked it to stop, to replace it for one, does not want it to go on as another run.
  if (stopRequestedAt !== undefined && isAwaiting(run)) abandon(tables, run, stopReason, version);
  const next = continuation && isAnswered(run) ? continueRun(tables, run, continuation, version) : undefined;
  tables.hints.publish({ type: 'flushed', process });
  return finished(run, next?.ownership);
}

function finished(run: RunRow, continuation: Ownership | undefined): FinishResult {
  const message = structuredClone(run.message.message);
  return { result: 'ok', message, ...(continuation && { continuation }) };
}

/** The acknowledgement was lost: the owner hears again what it did, and owns the continuation if nobody took it since. */
function repeated(run: RunRow, epoch: number, end: FinishRequest): FinishResult {
  const same =
    run.endedAt !== undefined &&
    run.epoch === epoch &&
    run.nextSeq === end.nextSeq + end.events.length &&
    equalJson(run.outcome as Json, toNearestJson(end.outcome));
  if (!same || run.message.deleted) return { result: 'fenced' };
  const next = run.continuation;
  return finished(run, next && isUntouched(next, end.continuation?.process) ? ownershipOf(next) : undefined);
}

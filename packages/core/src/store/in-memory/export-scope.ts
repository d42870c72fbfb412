import { defined } from '../../json/fields.ts';
import { encodeBase64 } from '../../json/base64.ts';
import { copyJson } from '../../json/copy-json.ts';
import type { Json } from '../../json/json.ts';
import { encodeMessage } from '../../message/message-json.ts';
import { withoutCheckpoints } from '../rules/log-text.ts';
import type { AgentEvent } from '../../event/event.ts';
import type { Scope } from '../scope.ts';
import { toThread } from './conversation.ts';
import { toDecision } from './decision-row.ts';
import { toRunRecord } from './run-row.ts';
import type { RunRow, Tables } from './tables.ts';

/** Exports each thread with its messages, runs, decisions and logs, then the blobs. */
export async function* exportScope(tables: Tables, scope: Scope): AsyncGenerator<Json> {
  for (const thread of tables.threads.get(scope)?.values() ?? []) {
    yield { type: 'thread', thread: copyJson(toThread(thread), 'thread') };
    for (const { message, deleted } of thread.messages.values()) {
      if (!deleted) yield { type: 'message', message: encodeMessage(message) };
    }
    for (const run of thread.runs.values()) yield* exportRun(run);
  }
  for (const { sha256, size, mediaType, url, data } of tables.blobs.get(scope)?.values() ?? []) {
    yield {
      type: 'blob',
      sha256,
      size,
      ...defined({ mediaType, url, data: data && encodeBase64(data) }),
    };
  }
}

function* exportRun(run: RunRow): Generator<Json> {
  yield { type: 'run', run: copyJson(toRunRecord(run), 'run') };
  for (const decision of run.decisions.values()) {
    yield { type: 'decision', decision: copyJson(toDecision(decision), 'decision') };
  }
  if (run.log.length > 0) {
    const events = run.log.flatMap(({ body }) => JSON.parse(body) as Array<AgentEvent & Json>);
    yield { type: 'log', threadId: run.thread.id, runId: run.runId, events: withoutCheckpoints(events) };
  }
}

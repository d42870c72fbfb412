import { encodeMessage, toJson, type Store, type Thread } from '@intertie/core';
import { toPublicMessage } from '@intertie/core/http';
import { toRunInfo } from './api.ts';
import type { Host } from '../host/host.ts';

const pageSize = 200;

/** A thread as JSON lines: itself, every message of every branch, its runs. */
export function exportThread(host: Pick<Host, 'errorText'>, store: Store, thread: Thread): Response {
  const encoder = new TextEncoder();
  const lines = linesOf(host, store, thread);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await lines.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      },
      async cancel() {
        await lines.return();
      },
    },
    { highWaterMark: 0 },
  );
  const name = thread.id.replace(/[^\w.-]+/g, '_').slice(0, 100);
  return new Response(body, {
    headers: {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.jsonl"`,
    },
  });
}

async function* linesOf(host: Pick<Host, 'errorText'>, store: Store, thread: Thread): AsyncGenerator<unknown, void> {
  const threadId = thread.id;
  yield { type: 'thread', thread: toJson(thread) };
  for (let since = 0, isMore = true; isMore;) {
    const changes = await store.listChanges({ threadId, since, limit: pageSize });
    for (const change of changes) {
      since = change.version;
      if (change.type !== 'message') continue;
      yield { type: 'message', message: encodeMessage(toPublicMessage(change.message, host)) };
    }
    isMore = changes.length >= pageSize;
  }
  const runs = await store.registry.listRuns(store.scope, { threadId });
  for (const run of runs) yield { type: 'run', run: toRunInfo(run, host, runs) };
}

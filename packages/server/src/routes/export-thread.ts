import { encodeMessage, toReadableStream, type Store, type Thread, toJson } from '@intertie/core';
import { toPublicMessage } from '@intertie/core/http';
import { toRunInfo } from './api.ts';
import type { Host } from '../host/host.ts';

const pageSize = 200;

/** Responds with a thread as JSON lines: the thread, the messages of all branches, its runs. */
export function exportThread(host: Pick<Host, 'errorText'>, store: Store, thread: Thread): Response {
  const name = thread.id.replace(/[^\w.-]+/g, '_').slice(0, 100);
  return new Response(toReadableStream(encodeLines(readThread(host, store, thread))), {
    headers: {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.jsonl"`,
    },
  });
}

async function* encodeLines(values: AsyncIterable<unknown>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  for await (const value of values) yield encoder.encode(`${JSON.stringify(value)}\n`);
}

async function* readThread(host: Pick<Host, 'errorText'>, store: Store, thread: Thread): AsyncGenerator<unknown, void> {
  const threadId = thread.id;
  yield { type: 'thread', thread: toJson(thread) };
  for (let since = 0, hasMore = true; hasMore;) {
    const changes = await store.listChanges({ threadId, since, limit: pageSize });
    for (const change of changes) {
      since = change.version;
      if (change.type !== 'message') continue;
      yield { type: 'message', message: encodeMessage(toPublicMessage(change.message, host)) };
    }
    hasMore = changes.length >= pageSize;
  }
  const runs = await store.registry.listRuns(store.scope, { threadId });
  for (const run of runs) yield { type: 'run', run: toRunInfo(run, host, runs) };
}

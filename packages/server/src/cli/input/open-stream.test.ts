import { expect, it } from 'vitest';
import { createProtocolList } from '../formats/protocol-list.ts';
import { openStream } from './open-stream.ts';

/** Yields one event at a time and counts how many were read. */
function live(...events: string[]): { bytes: AsyncIterable<Uint8Array>; asked: () => number } {
  let asked = 0;
  const bytes = (async function* () {
    for (const event of events) {
      asked += 1;
      yield new TextEncoder().encode(event);
    }
  })();
  return { bytes, asked: () => asked };
}

it.each<[protocol: string, needed: number, ...events: string[]]>([
  ['ag-ui', 1, 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n'],
  ['mail', 1, 'event: new_message\ndata: {"task_id":"t"}\n\n'],
  ['open-harness', 1, 'event: workflow:started\ndata: {"name":"workflow:started","payload":{}}\n\n'],
  ['canonical', 1, '{"type":"run-start","runId":"r","threadId":"t","messageId":"m"}\n'],
  ['ui-message-stream', 1, 'data: {"type":"start","messageId":"m"}\n\n'],
  ['ui-message-stream', 2, 'data: {"type":"start"}\n\n', 'data: {"type":"start-step"}\n\n'],
  ['ai-sdk', 2, '{"type":"start"}\n', '{"type":"start-step","request":{},"warnings":[]}\n'],
])('detects a live stream of %s after %i events without reading further', async (protocol, needed, ...events) => {
  const { bytes, asked } = live(...events, ...Array.from({ length: 50 }, () => ': still alive\n\n'));
  const { known } = await openStream(bytes, { protocols: createProtocolList() });
  expect([known.name, asked()]).toEqual([protocol, needed]);
});

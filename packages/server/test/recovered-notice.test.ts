import { createAGUIEncoder } from '@intertie/ag-ui';
import { createUIMessageEncoder } from '@intertie/ai-sdk';
import { foldEvents, transcode, type AgentEvent } from '@intertie/core';
import { describe, expect, it } from 'vitest';

const notice = {
  level: 'info' as const,
  code: 'recovered',
  message: 'Another process continues the run.',
  data: { epoch: 2, attempts: 2 },
};
const events: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'checkpoint', token: { taskId: 'secret' } },
  { type: 'text-start', id: 'a' },
  { type: 'text-delta', id: 'a', delta: 'One ' },
  { type: 'notice', ...notice },
  { type: 'text-delta', id: 'a', delta: 'two' },
  { type: 'text-end', id: 'a' },
  { type: 'run-end', outcome: 'complete' },
];

describe('the notice of a recovered run', () => {
  it('is a transient data part of a UI message stream, within the open text', () => {
    const chunks = transcode(createUIMessageEncoder({ version: 7 }), events);
    const index = chunks.findIndex(({ type }) => type === 'data-notice');
    expect(chunks[index]).toMatchObject({ data: notice, transient: true });
    expect([chunks[index - 1], chunks[index + 1]]).toMatchObject([{ delta: 'One ' }, { delta: 'two' }]);
    expect(JSON.stringify(chunks)).not.toContain('secret');
  });

  it('is a CUSTOM event of AG-UI', () => {
    const encoded = transcode(createAGUIEncoder({ protocolVersion: '1.0' }), events);
    expect(encoded).toContainEqual(expect.objectContaining({ type: 'CUSTOM', name: 'intertie.notice', value: notice }));
    expect(JSON.stringify(encoded)).not.toContain('secret');
  });

  it('leaves no trace in the stored message', () => {
    expect(foldEvents(events)?.content.parts).toMatchObject([{ type: 'text', text: 'One two' }]);
  });
});

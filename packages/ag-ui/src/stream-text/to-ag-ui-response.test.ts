import { describe, expect, it, vi } from 'vitest';
import { replay } from '../../test/ag-ui-client.ts';
import { frameEvents } from '../../test/frame-events.ts';
import { collect, finish, majors, reasoning, scriptedModel, text, type Turn } from '../../test/scripted-model.ts';
import { describeMessages } from '../../test/describe-messages.ts';
import type { AGUIEvent, AGUIRunInput } from '../shared/ag-ui-event.ts';
import { toAGUIResponse, type ToAGUIResponseOptions } from './to-ag-ui-response.ts';

const input: AGUIRunInput = {
  threadId: 'thread-1',
  runId: 'run-1',
  parentRunId: 'run-0',
  protocolVersion: '1.0',
  messages: [{ id: 'u1', role: 'user', content: 'Go.' }],
};

describe.each(majors)('toAGUIResponse with $name', ({ ai }) => {
  const respond = (turn: Turn, options: Partial<ToAGUIResponseOptions> = {}): Response => {
    const model = scriptedModel([turn]);
    return toAGUIResponse(ai.streamText({ model, prompt: 'Go.', maxRetries: 0, onError: () => undefined }), {
      input,
      ...options,
    });
  };
  const readEvents = async (response: Response): Promise<AGUIEvent[]> => frameEvents(await response.text());

  it('responds with an unbuffered event stream and custom headers', async () => {
    const response = respond([...text('0', 'Hi'), finish()], {
      headers: { 'x-mine': '1', 'cache-control': 'no-store' },
    });
    expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([
      200,
      { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', 'x-mine': '1', 'cache-control': 'no-store' },
    ]);
    expect(response.headers.has('connection')).toBe(false);
    await response.body?.cancel();
  });

  it('uses ids, version and messages of the request', async () => {
    const events = await readEvents(respond([...reasoning('0', 'Hm.'), ...text('1', 'Hi'), finish()]));
    expect(events[0]).toMatchObject({
      type: 'RUN_STARTED',
      threadId: 'thread-1',
      runId: 'run-1',
      parentRunId: 'run-0',
    });
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', runId: 'run-1', outcome: { type: 'success' } });
    const { messages, warnings } = await replay([events], input.messages);
    expect([describeMessages(messages), warnings]).toEqual([['reasoning=Hm.', 'text=Hi'], []]);
  });

  it('emits a failure in the stream with status 200', async () => {
    const response = respond({ throws: new Error('No key.') }, { errorText: ({ message }) => `Failed: ${message}` });
    expect(response.status).toBe(200);
    expect((await readEvents(response)).at(-1)).toMatchObject({ type: 'RUN_ERROR', message: 'Failed: No key.' });
  });

  it('hides the text of a provider error', async () => {
    const body = await respond({ throws: new Error('Wrong key sk-secret.') }).text();
    expect(body).not.toContain('sk-secret');
    expect(frameEvents(body).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'run-failed' });
    expect(body).toContain('Run: run-1.');
  });

  it('stops reading the model when the client disconnects', async () => {
    let isCancelled = false;
    const parts = (async function* () {
      try {
        yield { type: 'start-step' };
        yield { type: 'text-start', id: '0' };
        for (;;) yield { type: 'text-delta', id: '0', text: 'x' };
      } finally {
        isCancelled = true;
      }
    })();
    const reader = toAGUIResponse({ fullStream: parts }, { input }).body!.getReader();
    await reader.read();
    await reader.read();
    await reader.cancel();
    await vi.waitFor(() => expect(isCancelled).toBe(true));
    expect(await collect(parts)).toEqual([]);
  });
});

import { AbstractAgent, HttpAgent, type BaseEvent } from '@ag-ui/client';
import type { AgentEvent } from '@intertie/core';
import { map, Observable, throwError } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { runControl } from '../../../core/test/run-control.ts';
import { runInput } from '../../../core/test/run-input.ts';
import { agUiSource } from './ag-ui-source.ts';
import type { InProcessAgent } from './in-process-agent.ts';

const delta = (text: string): object => ({ type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: text });

/** Agent that never finishes, and counts how often its runs were stopped. */
class EndlessAgent extends AbstractAgent {
  stopped = { aborted: 0, unsubscribed: 0 };

  override clone(): EndlessAgent {
    return Object.assign(super.clone() as EndlessAgent, { stopped: this.stopped });
  }

  override abortRun(): void {
    this.stopped.aborted += 1;
  }

  run(): Observable<BaseEvent> {
    return new Observable((subscriber) => {
      for (const event of [{ type: 'RUN_STARTED', threadId: 't', runId: 'r' }, delta('One')]) {
        subscriber.next(event as unknown as BaseEvent);
      }
      return () => void (this.stopped.unsubscribed += 1);
    });
  }
}

async function readAll(stream: ReadableStream<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe('agUiSource with an agent in the same process', () => {
  it('accepts the agents of @ag-ui/client', () => {
    expectTypeOf<AbstractAgent>().toExtend<InProcessAgent>();
    expectTypeOf<HttpAgent>().toExtend<InProcessAgent>();
  });

  it('stops the run once when the signal aborts', async () => {
    const agent = new EndlessAgent();
    const abort = new AbortController();
    const events: AgentEvent[] = [];
    const stream = agUiSource({ agent }).run(runInput(), runControl({ signal: abort.signal }));
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'text-delta') abort.abort();
    }
    expect(events.at(-1)).toMatchObject({ type: 'run-end', outcome: 'aborted' });
    expect(agent.stopped).toEqual({ aborted: 1, unsubscribed: 1 });
  });

  it('stops the run when its reader leaves', async () => {
    const agent = new EndlessAgent();
    const reader = agUiSource({ agent }).run(runInput(), runControl()).getReader();
    while ((await reader.read()).value?.type !== 'text-delta');
    await reader.cancel();
    expect(agent.stopped).toEqual({ aborted: 1, unsubscribed: 1 });
  });

  it('does not start an agent whose run is stopped before it begins', async () => {
    const agent = new EndlessAgent();
    const events = await readAll(agUiSource({ agent }).run(runInput(), runControl({ signal: AbortSignal.abort() })));
    expect(events.at(-1)).toMatchObject({ outcome: 'aborted' });
    expect(agent.stopped).toEqual({ aborted: 0, unsubscribed: 0 });
  });

  it('applies the middlewares of the agent', async () => {
    class Greeter extends AbstractAgent {
      run(): Observable<BaseEvent> {
        return new Observable((subscriber) => {
          subscriber.next(delta('hello') as unknown as BaseEvent);
          subscriber.next({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' } as unknown as BaseEvent);
          subscriber.complete();
        });
      }
    }
    const agent = new Greeter().use((input, next) =>
      next.run(input).pipe(map((event) => ('delta' in event ? { ...event, delta: 'HELLO' } : event))),
    );
    const events = await readAll(agUiSource({ agent }).run(runInput(), runControl()));
    expect(events).toContainEqual(expect.objectContaining({ type: 'text-delta', delta: 'HELLO' }));
  });

  it('ends the run with the error of the agent', async () => {
    class Broken extends AbstractAgent {
      run(): Observable<BaseEvent> {
        return throwError(() => new Error('No model.'));
      }
    }
    const events = await readAll(agUiSource({ agent: new Broken() }).run(runInput(), runControl()));
    expect(events.at(-1)).toMatchObject({ outcome: 'error', error: { message: 'No model.' } });
  });

  it('takes its name from the id of the agent', () => {
    expect(agUiSource({ agent: new HttpAgent({ url: 'http://localhost/' }) }).name).toBe('ag-ui');
    expect(agUiSource({ agent: new HttpAgent({ url: 'http://localhost/', agentId: 'weather' }) }).name).toBe('weather');
  });
});

import { AbstractAgent, verifyEvents, type BaseEvent } from '@ag-ui/client';
import type { Interrupt, Message, RunAgentInput } from '@ag-ui/core';
import { EventSchemas } from '@ag-ui/core/schemas';
import { from, lastValueFrom, toArray, type Observable } from 'rxjs';
import { vi } from 'vitest';
import type { AGUIEvent } from '../src/shared/ag-ui-event.ts';

/** Runs the official verifier on a stream of triads. Returns its error message, if any. */
export async function verify(events: readonly AGUIEvent[]): Promise<string | undefined> {
  try {
    await lastValueFrom(from(events as unknown as BaseEvent[]).pipe(verifyEvents(false), toArray()), {
      defaultValue: [],
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Returns the schema errors of the events. */
export function schemaProblems(events: readonly AGUIEvent[]): string[] {
  return events.flatMap((event) => {
    const parsed = EventSchemas.safeParse(JSON.parse(JSON.stringify(event)));
    return parsed.success ? [] : [`${event.type}: ${parsed.error.message}`];
  });
}

class ReplayAgent extends AbstractAgent {
  events: readonly AGUIEvent[] = [];

  run(_input: RunAgentInput): Observable<BaseEvent> {
    return from(structuredClone(this.events) as unknown as BaseEvent[]);
  }
}

export type Replayed = {
  messages: Message[];
  state: unknown;
  warnings: string[];
  error?: string;
  interrupts: readonly Interrupt[];
};

/** Feeds streams to the official 1.0 client, one after the other, and returns its state. */
export async function replay(
  streams: ReadonlyArray<readonly AGUIEvent[]>,
  messages: Message[] = [],
): Promise<Replayed> {
  const agent = new ReplayAgent({ threadId: 'thread-1', initialMessages: messages });
  const warnings: string[] = [];
  const record = (...args: unknown[]): void => void warnings.push(args.map(String).join(' '));
  const spies = (['warn', 'error'] as const).map((level) => vi.spyOn(console, level).mockImplementation(record));
  let error: string | undefined;
  try {
    for (const events of streams) {
      agent.events = events;
      await agent.runAgent();
    }
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  const { pendingInterrupts = [] } = agent as { pendingInterrupts?: readonly Interrupt[] };
  return {
    messages: agent.messages,
    state: agent.state,
    warnings,
    interrupts: pendingInterrupts,
    ...(error !== undefined && { error }),
  };
}

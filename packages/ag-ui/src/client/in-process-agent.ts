import type { AGUIRunInput } from '../shared/ag-ui-event.ts';
import { asFields } from '../shared/read-fields.ts';
import { pushEvents, type EventSink } from '../wire/push-events.ts';

/** Stream of events: the part of an RxJS `Observable` that is used. */
type EventStream = { subscribe(observer: EventSink): { unsubscribe(): void } };

type Runnable = { run(input: never): EventStream };

/** Structural type of an `AbstractAgent` of `@ag-ui/client`, so that the package is not a dependency. */
export interface InProcessAgent extends Runnable {
  agentId?: string | undefined;
  threadId?: string;
  clone?(): unknown;
  /** Stops the run of this instance. */
  abortRun?(): void;
}

/** Runs an agent and yields its events. Leaving the generator, and `leave`, stop a run that has not ended. */
export async function* inProcessEvents(agent: InProcessAgent, input: AGUIRunInput, leave: AbortSignal): AsyncGenerator {
  // `abortRun` stops all runs of an instance, and agents keep state of the run in their fields.
  const own = (agent.clone?.() ?? agent) as InProcessAgent;
  own.threadId = input.threadId;
  yield* pushEvents((sink) => {
    let isOver = false;
    const subscription = withMiddlewares(own)
      .run(structuredClone(input) as never)
      .subscribe({
        next(event) {
          isOver ||= ['RUN_FINISHED', 'RUN_ERROR'].includes(String(asFields(event).type));
          sink.next(event);
        },
        error(error) {
          isOver = true;
          sink.error(error);
        },
        complete() {
          isOver = true;
          sink.complete();
        },
      });
    const stop = (): void => {
      leave.removeEventListener('abort', stop);
      if (!isOver) own.abortRun?.();
      isOver = true;
      subscription.unsubscribe();
      sink.complete();
    };
    leave.addEventListener('abort', stop);
    if (leave.aborted) stop();
    return stop;
  });
}

type Middleware = { run(input: never, next: Runnable): EventStream };

/** Applies the middlewares that `agent.use` has added. `AbstractAgent` applies them in `runAgent` only. */
function withMiddlewares(agent: InProcessAgent): Runnable {
  const { middlewares } = agent as { middlewares?: unknown };
  const list = Array.isArray(middlewares) ? (middlewares as Middleware[]) : [];
  return list.reduceRight<Runnable>(
    (next, middleware) => Object.assign(Object.create(agent), { run: (input: never) => middleware.run(input, next) }),
    agent,
  );
}

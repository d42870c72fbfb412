import type { AGUIEvent } from './ag-ui-event.ts';
import type { EventFeed } from './event-feed.ts';

type Result = IteratorResult<AGUIEvent, void>;
const over: Result = { done: true, value: undefined };
/** What all async generators inherit: that they can be iterated and, where the platform knows how, disposed of. */
const inherited: object = Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})())) as object;

/**
 * A feed as a generator: nothing is read that nobody asks for. It is no `async function*`, which makes three promises of each
 * event and cannot be left while it waits.
 */
export function generateAGUI(feed: EventFeed): AsyncGenerator<AGUIEvent, void, undefined> {
  /** What was read and not asked for yet. */
  const events: AGUIEvent[] = [];
  /** Who has asked for what was not read yet. */
  const asking: Array<(result: Result) => void> = [];
  let isOpen = false;
  let isReading = false;
  let isOver = false;

  const read = (): void => {
    if (isReading || isOver) return;
    isReading = true;
    feed.read();
  };
  const end = (): void => {
    isOver = true;
    for (const answer of asking.splice(0)) answer(over);
  };
  const open = (): void => {
    isOpen = true;
    feed.open({
      event(event) {
        if (asking.length > 0) asking.shift()!({ done: false, value: event });
        else if (!isOver) events.push(event);
      },
      ready() {
        isReading = asking.length > 0 && !isOver;
        return isReading;
      },
      end,
      // A feed that can fail is not read through a generator, which never throws.
      fail: end,
    });
  };
  const leave = (): void => {
    events.length = 0;
    if (isOver) return;
    end();
    // Not waited for, and its failure to stop is nobody's business any more.
    Promise.resolve(feed.leave(undefined)).catch(() => undefined);
  };

  return Object.assign(Object.create(inherited) as AsyncGenerator<AGUIEvent, void, undefined>, {
    next(): Promise<Result> {
      if (!isOpen && !isOver) open();
      if (events.length > 0) return Promise.resolve({ done: false, value: events.shift()! });
      if (isOver) return Promise.resolve(over);
      return new Promise((resolve) => {
        asking.push(resolve);
        read();
      });
    },
    return(): Promise<Result> {
      leave();
      return Promise.resolve(over);
    },
    throw(error: unknown): Promise<Result> {
      leave();
      return Promise.reject(error);
    },
  });
}

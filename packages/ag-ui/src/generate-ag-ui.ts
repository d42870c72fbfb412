import type { AGUIEvent } from './ag-ui-event.ts';
import type { PartFeed } from './part-feed.ts';

type Result = IteratorResult<AGUIEvent, void>;
const over: Result = { done: true, value: undefined };
/** What all async generators inherit: that they can be iterated and, where the platform knows how, disposed of. */
const inherited: object = Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})())) as object;

/** As the engine makes them itself: in one of these a promise does not look for a `then`, which it would do for each event. */
const resultOf = (value: AGUIEvent): Result => [value].values().next();

/**
 * A feed as a generator: nothing is read that nobody asks for. It is no `async function*`, which makes three promises of each
 * event and cannot be left while it waits.
 */
export function generateAGUI(feed: PartFeed): AsyncGenerator<AGUIEvent, void, undefined> {
  /** What was read and not asked for yet: mostly one, and then the list is not touched. */
  let first: AGUIEvent | undefined;
  let others: AGUIEvent[] = [];
  let isOpen = false;
  let isOver = false;
  /** How many have asked and not been answered yet, and the answer to the last of them. */
  let asking = 0;
  let last: Promise<Result> = Promise.resolve(over);

  const put = (event: AGUIEvent): void => {
    if (first === undefined) first = event;
    else others.push(event);
  };
  const end = (): void => void (isOver = true);
  const open = (): void => {
    isOpen = true;
    feed.open({ event: put, ready: () => false, end, fail: end });
  };
  /** What was just read, or is there, or what the next part brings. */
  const give = (read?: AGUIEvent): Result | Promise<Result> => {
    if (read !== undefined) {
      asking -= 1;
      return resultOf(read);
    }
    const value = first;
    if (value === undefined && !isOver) return step();
    asking -= 1;
    if (value === undefined) return over;
    first = others.length === 0 ? undefined : others.shift();
    return resultOf(value);
  };
  const step = feed.steps(give);
  const leave = (): void => {
    first = undefined;
    others = [];
    if (isOver) return;
    isOver = true;
    feed.leave(undefined);
  };

  return Object.assign(Object.create(inherited) as AsyncGenerator<AGUIEvent, void, undefined>, {
    next(): Promise<Result> {
      if (!isOpen && !isOver) open();
      asking += 1;
      if (asking > 1) last = last.then(() => give());
      else if (first === undefined && !isOver) last = step();
      else return Promise.resolve(give());
      return last;
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

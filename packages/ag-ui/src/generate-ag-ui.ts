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
 * event, and whose `return` waits for the next part.
 */
export function generateAGUI(feed: PartFeed): AsyncGenerator<AGUIEvent, void, undefined> {
  /** What was read and not asked for yet: mostly one, and then the list is not touched. */
  let first: AGUIEvent | undefined;
  let others: AGUIEvent[] = [];
  let isOpen = false;
  let isOver = false;
  /** Whether somebody has asked and has no answer yet, and those who have asked meanwhile. */
  let isAsked = false;
  const waiting: Array<(result: Result) => void> = [];
  let isServing = false;
  /** How many parts have said nothing since the first of them asked. */
  let silent = 0;

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
    const value = read ?? first;
    if (value === undefined && !isOver) {
      silent += 1;
      return step();
    }
    if (read === undefined) first = others.length === 0 ? undefined : others.shift();
    if (waiting.length > 0 || (isAsked && silent > 0)) void serve();
    else isAsked = isServing;
    return value === undefined ? over : resultOf(value);
  };
  /**
   * Answers those who wait or will in a moment, one after the other. The promise of whoever asked first is not noted, which would
   * have to be done for each event: it is settled at once, or up to two turns later for each part that said nothing.
   */
  const serve = async (): Promise<void> => {
    if (isServing) return;
    isServing = true;
    // oxlint-disable no-await-in-loop -- one after the other
    for (let turns = 2 * silent; turns >= 0; turns--) await Promise.resolve();
    for (let answer = waiting.shift(); answer; answer = waiting.shift()) answer(await give());
    // oxlint-enable no-await-in-loop
    isServing = isAsked = false;
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
      if (isAsked) return new Promise((resolve) => void waiting.push(resolve));
      if (first !== undefined || isOver) return Promise.resolve(give());
      isAsked = true;
      silent = 0;
      return step();
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

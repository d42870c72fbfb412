// @ts-check
import { appendFileSync } from 'node:fs';

/**
 * Records the runs of the agents of a class in a file: the messages that each run received, and the events that it sent. The
 * recording proxy does the same for agents at a URL.
 * @param {{ prototype: any }} agentClass
 * @param {string} file
 */
export function recordRuns({ prototype }, file) {
  const { run } = prototype;
  prototype.run = function (/** @type {{ messages: object[] }} */ input) {
    const id = crypto.randomUUID();
    const write = (/** @type {object} */ line) => appendFileSync(file, `${JSON.stringify({ id, ...line })}\n`);
    write({ messages: input.messages });
    const events = run.call(this, input);
    return {
      subscribe: (/** @type {any} */ observer) =>
        events.subscribe({
          ...observer,
          next(/** @type {{ type: string, rawEvent?: unknown }} */ { rawEvent, ...event }) {
            if (event.type !== 'RAW') write({ event });
            observer.next({ ...event, rawEvent });
          },
        }),
    };
  };
}

// @ts-check
import { startChild } from '../end-to-end/child.mjs';
import { growth } from '../end-to-end/growth.mjs';
import { memory } from '../end-to-end/memory.mjs';
import { openParties } from '../end-to-end/parties.mjs';
import { speed } from '../end-to-end/speed.mjs';

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: 'end-to-end: a turn over HTTP, each server in a process of its own, and the client in another',
  async run(options) {
    const parties = await openParties(options);
    const client = await startChild('client.mjs');
    try {
      return [
        ...(await speed(options, parties, client)),
        ...(await memory(options, parties)),
        ...(await growth(options, parties, client)),
      ];
    } finally {
      await client.stop();
      await parties.stop();
    }
  },
};

export default suite;

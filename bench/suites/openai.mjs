// @ts-check
import { modelSource } from '@intertie/ai-sdk';
import { createResponsesEncoder } from '@intertie/openai';
import { streamText } from 'ai';

import { createTextModel } from '../create-text-model.mjs';
import { measure, spread } from '../measure.mjs';

/** @import { Options, Row } from '../measure.mjs' */

const ids = { runId: 'run-1', threadId: 'thread-1', messageId: 'message-1', startedAt: 0 };
/** @type {import('@intertie/core').CanonicalMessage} */
const question = {
  id: 'question-1',
  threadId: ids.threadId,
  role: 'user',
  type: 'text',
  content: { format: 2, parts: [{ type: 'text', text: 'Hi' }] },
  createdAt: new Date(0),
};
const input = { ...ids, history: [question], answers: [], tools: [], context: [] };
const response = { id: 'resp_1', model: 'helper', createdAt: 0 };
const peerName = 'streamText().toUIMessageStreamResponse()';

/** Runs the model and writes the events of a response. @param {number} deltas */
async function writeResponse(deltas) {
  const control = {
    signal: new AbortController().signal,
    barrier: async () => undefined,
    liveAnswers: (async function* () {})(),
  };
  const text = new TextEncoder();
  const encoder = createResponsesEncoder({ response });
  /** @type {Uint8Array[]} */
  const chunks = [];
  /** @param {{ type: string }} event */
  const emit = (event) => {
    chunks.push(text.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
  };
  for await (const event of modelSource(createTextModel(deltas), { name: 'helper' }).run(input, control)) {
    encoder.feed(event, emit);
  }
  return chunks;
}

/** Runs the model behind the response of the AI SDK. @param {number} deltas */
async function writeUIMessages(deltas) {
  const { body } = streamText({ model: createTextModel(deltas), prompt: 'Hi' }).toUIMessageStreamResponse();
  /** @type {Uint8Array[]} */
  const chunks = [];
  for await (const chunk of /** @type {ReadableStream<Uint8Array>} */ (body)) chunks.push(chunk);
  return chunks;
}

/**
 * Returns the size in kB. Throws unless all deltas arrived: a run that fails at once would look fast and small.
 * @param {Uint8Array[]} chunks
 * @param {string} type type of a delta
 * @param {number} deltas
 */
function measureSize(chunks, type, deltas) {
  const bytes = Buffer.concat(chunks);
  const found = bytes.toString().split(`"type":"${type}"`).length - 1;
  if (found !== deltas) throw new Error(`The stream has ${found} of ${deltas} events "${type}".`);
  return bytes.byteLength / 1000;
}

/** @type {import('../measure.mjs').Suite} */
export default {
  title: 'openai: a run as the bytes of a response',
  warmUpMs: 500,
  async run(options) {
    /** @type {Row[]} */
    const rows = [];
    for (const deltas of [100, 5000]) {
      const name = `${deltas.toLocaleString('en')} deltas to bytes`;
      const parties = { ours: () => writeResponse(deltas), peer: () => writeUIMessages(deltas) };
      // Before the measurement, so that no time of an incomplete run is recorded.
      const ours = measureSize(await parties.ours(), 'response.output_text.delta', deltas);
      const peer = measureSize(await parties.peer(), 'text-delta', deltas);
      rows.push(await measure(options, { name, events: deltas, peerName, clock: 'cpu', ...parties }));
      rows.push({
        name: `size of ${deltas.toLocaleString('en')} deltas`,
        events: deltas,
        unit: 'kB',
        ours: spread([ours]),
        peerName,
        peer: spread([peer]),
        ratio: spread([peer / ours]),
        note: 'every delta of a response names its item, its indexes and its sequence number',
      });
    }
    return rows;
  },
};

// @ts-check
import {
  createChatHandler,
  createUIMessageEncoder,
  modelSource,
  readUIMessageSSE,
  validateUIMessageChunk,
} from '@intertie/ai-sdk';
import { seal, sourceStream, transcode } from '@intertie/core';
import { asSchema, createUIMessageStreamResponse, parseJsonEventStream, streamText, uiMessageChunkSchema } from 'ai';

import { measure } from '../measure.mjs';
import { createTextModel } from '../create-text-model.mjs';

/** @import { AgentEvent, AgentSource } from '@intertie/core' */
/** @import { UIMessageChunk } from 'ai' */

const schema = asSchema(uiMessageChunkSchema);
const meta = { intertie: { agentId: 'run:planner', stepId: 'run:1' } };

/** @type {Record<string, UIMessageChunk>} */
const kinds = {
  'text-delta': { type: 'text-delta', id: 'run:1', delta: 'word ' },
  'text-start with metadata': { type: 'text-start', id: 'run:1', providerMetadata: meta },
  'tool-output-available': { type: 'tool-output-available', toolCallId: 'c', output: { found: [1, 2, 3] } },
  'data-agent': { type: 'data-agent', id: 'a', data: { name: 'Planner' } },
  'message-metadata': { type: 'message-metadata', messageMetadata: { intertie: { status: 'complete' } } },
};

/** Creates a typical message of an agent: mostly text, some calls. @param {number} deltas @returns {AgentEvent[]} */
function agentEvents(deltas) {
  /** @type {AgentEvent[]} */
  const events = [{ type: 'agent-start', agentId: 'a', name: 'Planner', kind: 'agent' }];
  for (let index = 0; index < deltas; index++) {
    const id = `t${Math.floor(index / 100)}`;
    if (index % 100 === 0) {
      const call = { toolCallId: `c${index}`, toolName: 'look', agentId: 'a' };
      if (index > 0) {
        events.push({ type: 'text-end', id: `t${index / 100 - 1}` });
        events.push({ type: 'tool-call', input: { index }, ...call });
        events.push({ type: 'tool-result', toolCallId: `c${index}`, status: 'ok', output: { found: index } });
      }
      events.push({ type: 'text-start', id, agentId: 'a' });
    }
    events.push({ type: 'text-delta', id, delta: `w${index % 10} ` });
  }
  events.push({ type: 'text-end', id: `t${Math.floor((deltas - 1) / 100)}` });
  return [
    ...events,
    { type: 'agent-end', agentId: 'a', outcome: 'complete' },
    { type: 'run-end', outcome: 'complete' },
  ];
}

/** @param {AgentEvent[]} events @returns {AgentSource} */
const createSource = (events) => ({
  name: 'bench',
  pauses: 'replay',
  run: (run) =>
    sourceStream(
      toStream(events),
      seal(run, () => undefined),
    ),
});

/** @template T @param {T[]} items @returns {ReadableStream<T>} */
function toStream(items) {
  let index = 0;
  return new ReadableStream({
    pull(controller) {
      if (index < items.length) controller.enqueue(items[index++]);
      else controller.close();
    },
  });
}

/** @param {ReadableStream<unknown> | null} stream */
async function drain(stream) {
  const reader = /** @type {ReadableStream<unknown>} */ (stream).getReader();
  let count = 0;
  while (!(await reader.read()).done) count++;
  return count;
}

/** Splits the bytes of a stream like a network. @param {UIMessageChunk[]} chunks @param {number} size 0: one event each */
function splitFrames(chunks, size) {
  const frames = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  const encoder = new TextEncoder();
  if (size === 0) return frames.map((frame) => encoder.encode(frame));
  const bytes = encoder.encode(frames.join(''));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.slice(n * size, (n + 1) * size));
}

const user = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'go' }] };
const post = () =>
  new Request('http://localhost/', { method: 'POST', body: JSON.stringify({ id: 't', messages: [user] }) });

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title: 'ai-sdk: chunks, checked, read and written',
  warmUpMs: 1000,
  async run(options) {
    const rows = [];
    const events = agentEvents(20_000);
    const run = { runId: 'r', threadId: 't', messageId: 'm', startedAt: 0 };
    const input = { ...run, history: [], answers: [], tools: [], context: [] };
    const sealed = transcode(
      seal(input, () => undefined),
      events,
    );
    const chunks = /** @type {UIMessageChunk[]} */ (transcode(createUIMessageEncoder(), sealed));

    /** @type {Array<[string, UIMessageChunk[]]>} */
    const lists = [['a message of 20k deltas', chunks]];
    for (const [kind, chunk] of Object.entries(kinds)) lists.push([`20k × ${kind}`, Array(20_000).fill(chunk)]);
    for (const [name, list] of lists) {
      rows.push(
        await measure(options, {
          name: `check ${name}`,
          events: list.length,
          peerName: 'uiMessageChunkSchema of ai 6',
          ours: () => {
            for (const chunk of list) if (validateUIMessageChunk(chunk)) throw new Error('invalid');
          },
          peer: async () => {
            for (const chunk of list) if (!(await schema.validate?.(chunk))?.success) throw new Error('invalid');
          },
        }),
      );
    }

    for (const [name, size] of /** @type {const} */ ([
      ['one event at a time', 0],
      ['in pieces of 4 kB', 4096],
      ['in pieces of 64 kB', 65_536],
    ])) {
      const pieces = splitFrames(chunks, size);
      rows.push(
        await measure(options, {
          name: `bytes → checked chunks, ${name}`,
          events: chunks.length,
          peerName: 'parseJsonEventStream with the schema',
          ours: () => drain(readUIMessageSSE(toStream(pieces))),
          peer: () => drain(parseJsonEventStream({ stream: toStream(pieces), schema: uiMessageChunkSchema })),
        }),
      );
    }

    const handler = createChatHandler(createSource(events));
    rows.push(
      await measure(options, {
        name: 'events → checked chunks → bytes, 20k deltas and 199 calls',
        events: events.length,
        peerName: 'createUIMessageStreamResponse of the chunks',
        note: 'the peer neither encodes nor checks',
        ours: async () => drain((await handler(post())).body),
        peer: () => drain(createUIMessageStreamResponse({ stream: toStream(chunks) }).body),
      }),
    );

    const model = createTextModel(20_000);
    const route = createChatHandler(modelSource(model));
    rows.push(
      await measure(options, {
        name: 'a model of 20k deltas → bytes',
        events: 20_000,
        peerName: 'streamText().toUIMessageStreamResponse()',
        note: 'both include streamText',
        ours: async () => drain((await route(post())).body),
        peer: () => drain(streamText({ model, prompt: 'go' }).toUIMessageStreamResponse().body),
      }),
    );
    return rows;
  },
};

export default suite;

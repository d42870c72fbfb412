// @ts-check
import { MessageList } from '@intertie/core';
import { readUIMessageStream } from 'ai';

import { measure } from '../measure.mjs';

/** @import { AgentEvent } from '@intertie/core' */

const frame = 16;

/**
 * Reads as a page does: a snapshot, its length and its last delta after every delta, and the whole text every frame.
 * @param {Iterable<AgentEvent>} events
 */
function foldAndRead(events) {
  const list = new MessageList();
  let seen = 0;
  let shown = performance.now();
  for (const event of events) {
    list.feed(event);
    const snapshot = list.snapshot();
    if (!snapshot) continue;
    seen += snapshot.length + snapshot.lastDelta.length;
    if (performance.now() - shown < frame) continue;
    for (const part of snapshot.message.content.parts) {
      if (part.type === 'text') seen += lastChar(part.text);
      else if (part.type === 'tool-invocation') seen += lastChar(part.argsText ?? '');
    }
    shown = performance.now();
  }
  return seen;
}

/**
 * The same reading of the peer's snapshots; they have no last delta, so it is what the text has grown by.
 * @param {import('ai').UIMessageChunk[]} chunks
 */
async function readAndRead(chunks) {
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let seen = 0;
  let length = 0;
  let shown = performance.now();
  for await (const message of readUIMessageStream({ stream })) {
    const part = message.parts.at(-1);
    const text = part?.type === 'text' ? part.text : part?.type === 'dynamic-tool' ? inputText(part.input) : '';
    seen += text.length + lastChar(text.slice(length));
    length = text.length;
    if (performance.now() - shown < frame) continue;
    seen += lastChar(text);
    shown = performance.now();
  }
  return seen;
}

/** @param {unknown} input */
function inputText(input) {
  const text = /** @type {{ text?: string } | undefined} */ (input)?.text;
  return text ?? '';
}

/** Makes the engine put the text together. @param {string} text */
const lastChar = (text) => (text === '' ? 0 : text.charCodeAt(text.length - 1));

/** @returns {AgentEvent[]} */
const begin = () => [{ type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 0 }];

/** @param {number} count @returns {AgentEvent[]} */
function textEvents(count) {
  const events = begin();
  events.push({ type: 'text-start', id: '1' });
  for (let index = 0; index < count; index++) events.push({ type: 'text-delta', id: '1', delta: `w${index % 10} ` });
  events.push({ type: 'text-end', id: '1' }, { type: 'run-end', outcome: 'complete' });
  return events;
}

/** @param {number} count @returns {AgentEvent[]} */
function toolInputEvents(count) {
  const events = begin();
  events.push({ type: 'tool-input-start', toolCallId: 'c', toolName: 'write' });
  events.push({ type: 'tool-input-delta', toolCallId: 'c', delta: '{"text":"' });
  for (let index = 0; index < count; index++)
    events.push({ type: 'tool-input-delta', toolCallId: 'c', delta: `w${index % 10} ` });
  events.push({ type: 'tool-input-delta', toolCallId: 'c', delta: '"}' }, { type: 'tool-input-end', toolCallId: 'c' });
  events.push({ type: 'run-end', outcome: 'complete' });
  return events;
}

/** Agents that speak at the same time. @param {number} agents @param {number} count @returns {AgentEvent[]} */
function interleavedEvents(agents, count) {
  const events = begin();
  for (let agent = 0; agent < agents; agent++) {
    events.push({ type: 'agent-start', agentId: `a${agent}`, name: `agent ${agent}`, kind: 'agent' });
    events.push({ type: 'text-start', id: `t${agent}`, agentId: `a${agent}` });
  }
  for (let index = 0; index < count; index++)
    events.push({ type: 'text-delta', id: `t${index % agents}`, delta: `w${index % 10} ` });
  return events;
}

/** A text after many finished calls. @param {number} calls @param {number} count @returns {AgentEvent[]} */
function textAfterCalls(calls, count) {
  const events = begin();
  for (let call = 0; call < calls; call++) {
    events.push({ type: 'tool-call', toolCallId: `c${call}`, toolName: 'look', input: { call } });
    events.push({ type: 'tool-result', toolCallId: `c${call}`, status: 'ok', output: { found: call } });
  }
  return [...events, ...textEvents(count).slice(1)];
}

/** The same run as UI message chunks. @param {AgentEvent[]} events @returns {import('ai').UIMessageChunk[]} */
function chunksOf(events) {
  /** @type {import('ai').UIMessageChunk[]} */
  const chunks = [{ type: 'start', messageId: 'm' }, { type: 'start-step' }];
  for (const event of events) {
    if (event.type === 'text-start' || event.type === 'text-end') chunks.push({ type: event.type, id: event.id });
    else if (event.type === 'text-delta') chunks.push({ type: event.type, id: event.id, delta: event.delta });
    else if (event.type === 'tool-input-start') {
      chunks.push({ type: event.type, toolCallId: event.toolCallId, toolName: event.toolName, dynamic: true });
    } else if (event.type === 'tool-input-delta') {
      chunks.push({ type: event.type, toolCallId: event.toolCallId, inputTextDelta: event.delta });
    } else if (event.type === 'tool-call') {
      const { toolCallId, toolName, input } = event;
      chunks.push({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true });
    } else if (event.type === 'tool-result' && event.status === 'ok') {
      chunks.push({ type: 'tool-output-available', toolCallId: event.toolCallId, output: event.output, dynamic: true });
    }
  }
  return [...chunks, { type: 'finish-step' }, { type: 'finish' }];
}

const peerName = 'readUIMessageStream of ai 6';

/** @param {number} count */
const short = (count) => (count < 1e6 ? `${count / 1000}k` : `${count / 1e6}M`);

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title:
    'core: the fold, read as a page reads it (after every delta a snapshot, its length and its last delta; the whole text every 16 ms)',
  warmUpMs: 1000,
  async run(options) {
    const rows = [];
    for (const [count, compared] of /** @type {const} */ ([
      [10_000, true],
      [50_000, true],
      [100_000, false],
      [1_000_000, false],
    ])) {
      const events = textEvents(count);
      const chunks = compared ? chunksOf(events) : [];
      const peer = compared ? { peerName, peer: () => readAndRead(chunks) } : {};
      rows.push(
        await measure(options, {
          name: `${short(count)} text deltas`,
          events: count,
          ours: () => foldAndRead(events),
          ...peer,
        }),
      );
    }
    for (const [count, compared] of /** @type {const} */ ([
      [4_000, true],
      [10_000, false],
      [100_000, false],
    ])) {
      const events = toolInputEvents(count);
      const chunks = compared ? chunksOf(events) : [];
      const peer = compared ? { peerName, peer: () => readAndRead(chunks) } : {};
      rows.push(
        await measure(options, {
          name: `${short(count)} tool-input deltas`,
          events: count,
          ours: () => foldAndRead(events),
          ...peer,
        }),
      );
    }
    for (const agents of [1, 8, 64]) {
      const events = interleavedEvents(agents, 100_000);
      rows.push(
        await measure(options, {
          name: `100k text deltas of ${agents} agents in turns`,
          events: 100_000,
          ours: () => foldAndRead(events),
        }),
      );
    }
    for (const calls of [0, 200, 2000]) {
      const events = textAfterCalls(calls, 5000);
      const chunks = chunksOf(events);
      const count = 5000 + 2 * calls;
      const peer = calls <= 200 ? { peerName, peer: () => readAndRead(chunks) } : {};
      rows.push(
        await measure(options, {
          name: `5k text deltas after ${calls} calls`,
          events: count,
          ours: () => foldAndRead(events),
          ...peer,
        }),
      );
    }
    return rows;
  },
};
export default suite;

// @ts-check
import { MessageList } from '@intertie/core';
import { readUIMessageStream } from 'ai';

import { compareRounds, measureAlternately, spread, time } from '../measure.mjs';

/** @import { AgentEvent } from '@intertie/core' */
/** @import { Options, Row } from '../measure.mjs' */

const frame = 16;

/**
 * Reads like a page: a snapshot, its length and its last delta after every delta, and the complete text every frame.
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
 * Reads the peer's snapshots in the same way; they have no last delta, so it is computed from the growth of the text.
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

/** Makes the engine flatten the concatenated text. @param {string} text */
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

/** Creates interleaved text of several agents. @param {number} agents @param {number} count @returns {AgentEvent[]} */
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

/** Creates text after many finished calls. @param {number} calls @param {number} count @returns {AgentEvent[]} */
function textAfterCalls(calls, count) {
  const events = begin();
  for (let call = 0; call < calls; call++) {
    events.push({ type: 'tool-call', toolCallId: `c${call}`, toolName: 'look', input: { call } });
    events.push({ type: 'tool-result', toolCallId: `c${call}`, status: 'ok', output: { found: call } });
  }
  return [...events, ...textEvents(count).slice(1)];
}

/** Converts a run to UI message chunks. @param {AgentEvent[]} events @returns {import('ai').UIMessageChunk[]} */
function toChunks(events) {
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

/** @param {number} count */
const short = (count) => (count < 1e6 ? `${count / 1000}k` : `${count / 1e6}M`);

/** @typedef {{ name: string, count: number, events: AgentEvent[] }} Fold */

/** @param {number} count @returns {Fold} */
const text = (count) => ({ name: `${short(count)} text deltas`, count, events: textEvents(count) });
/** @param {number} count @returns {Fold} */
const toolInput = (count) => ({ name: `${short(count)} tool-input deltas`, count, events: toolInputEvents(count) });
/** @param {number} agents @returns {Fold} */
const spoken = (agents) => ({
  name: `100k text deltas of ${agents} agent${agents === 1 ? '' : 's in turns'}`,
  count: 100_000,
  events: interleavedEvents(agents, 100_000),
});
/** @param {number} calls @returns {Fold} */
const afterCalls = (calls) => ({
  name: `5k text deltas after ${calls} calls`,
  count: 5000 + 2 * calls,
  events: textAfterCalls(calls, 5000),
});

/** Measures milliseconds per fold, repeated until a round is long enough to time. @param {Fold} fold */
const timeFold = async ({ count, events }) => {
  const times = Math.ceil(100_000 / count);
  const repeat = () => {
    for (let n = 0; n < times; n++) foldAndRead(events);
  };
  return (await time(repeat, 'wall')) / times;
};

/**
 * @param {Options} options
 * @param {Fold} fold
 * @returns {Promise<Row>}
 */
async function besideAI(options, fold) {
  const { name, count, events } = fold;
  const chunks = toChunks(events);
  const [ours = [], theirs = []] = await measureAlternately(options, name, [
    () => timeFold(fold),
    () => time(() => readAndRead(chunks), 'wall'),
  ]);
  const peerName = 'readUIMessageStream of ai 6';
  return { name, events: count, ours: spread(ours), peerName, ...compareRounds(ours, theirs) };
}

/**
 * Measures the cost per event of long runs relative to a short one, without the AI SDK, which would take minutes.
 * @param {Options} options
 * @param {Fold} smallest
 * @param {Fold[]} others
 * @returns {Promise<Row[]>}
 */
async function growth(options, smallest, others) {
  const parties = [smallest, ...others].map((fold) => () => timeFold(fold));
  const [least = [], ...figures] = await measureAlternately(options, `each of ${smallest.name} and of more`, parties);
  return others.map(({ name, count }, index) => {
    const ours = figures[index] ?? [];
    const each = ours.map((ms, round) => ms / count / ((least[round] ?? ms) / smallest.count));
    return {
      name,
      events: count,
      ours: spread(ours),
      growth: { from: `${smallest.name}, for each`, ratio: spread(each) },
    };
  });
}

/** @type {import('../measure.mjs').Suite} */
const suite = {
  title:
    'core: the fold, read as a page reads it (after every delta a snapshot, its length and its last delta; the whole text every 16 ms)',
  warmUpMs: 1000,
  async run(options) {
    return [
      await besideAI(options, text(10_000)),
      await besideAI(options, text(50_000)),
      ...(await growth(options, text(10_000), [text(100_000), text(1_000_000), ...[1, 8, 64].map(spoken)])),
      await besideAI(options, toolInput(4_000)),
      ...(await growth(options, toolInput(4_000), [toolInput(10_000), toolInput(100_000)])),
      await besideAI(options, afterCalls(0)),
      await besideAI(options, afterCalls(200)),
      ...(await growth(options, afterCalls(0), [afterCalls(2000)])),
    ];
  },
};
export default suite;

// @ts-check

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, inputTokenDetails: {}, outputTokenDetails: {} };

/** @typedef {{ type: string, [key: string]: unknown }} Part */

/** Creates the full-stream parts of one step. @param {Part[]} parts @returns {Part[]} */
export function createStepParts(parts) {
  const response = { id: 'r', timestamp: new Date(0), modelId: 'm' };
  return [
    { type: 'start' },
    { type: 'start-step', request: {}, warnings: [] },
    ...parts,
    { type: 'finish-step', finishReason: 'stop', rawFinishReason: 'stop', usage, response },
    { type: 'finish', finishReason: 'stop', rawFinishReason: 'stop', totalUsage: usage },
  ];
}

/** @param {number} deltas @returns {Part[]} */
export function createTextParts(deltas) {
  const words = Array.from({ length: deltas }, (_, n) => ({ type: 'text-delta', id: '1', text: `w${n % 10} ` }));
  return [{ type: 'text-start', id: '1' }, ...words, { type: 'text-end', id: '1' }];
}

/** Creates calls, with or without streamed arguments. @param {number} calls @param {number} length of the arguments @param {boolean} isStreamed @returns {Part[]} */
export function createCallParts(calls, length, isStreamed) {
  return Array.from({ length: calls }, (_, n) => {
    const id = `c${n}`;
    const call = { toolCallId: id, toolName: 'look' };
    /** @type {Part[]} */
    const streamed = [
      { type: 'tool-input-start', id, toolName: 'look' },
      { type: 'tool-input-delta', id, delta: '{"q":"' },
      ...Array.from({ length }, () => ({ type: 'tool-input-delta', id, delta: 'x' })),
      { type: 'tool-input-delta', id, delta: '"}' },
      { type: 'tool-input-end', id },
    ];
    return [
      ...(isStreamed ? streamed : []),
      { type: 'tool-call', ...call, input: { q: 'x'.repeat(length) } },
      { type: 'tool-result', ...call, input: {}, output: { found: n } },
    ];
  }).flat();
}

/** @param {Part[]} parts */
export async function* toStream(parts) {
  for (const part of parts) yield part;
}

// @ts-check
// The same small program for every place that the packages run in: Node, a browser, a worker. It returns plain JSON, so that
// the places can be compared.
import * as conformance from '@intertie/conformance';
import * as core from '@intertie/core';

const { encodeMessage, foldEvents, seal, transcode, unfold } = core;
const { canonical, check } = conformance;

/** @type {core.RunInput} */
const run = {
  runId: 'r1',
  threadId: 't1',
  messageId: 'm1',
  startedAt: 1_700_000_000_000,
  history: [],
  answers: [],
  tools: [],
  context: [],
};

/** @type {core.AgentEvent[]} */
const stream = [
  { type: 'step-start', stepId: 's1' },
  { type: 'text-start', id: 'r1:1', stepId: 's1' },
  { type: 'text-delta', id: 'r1:1', delta: 'Grüße, ' },
  { type: 'text-delta', id: 'r1:1', delta: '世界 🌍' },
  { type: 'text-end', id: 'r1:1' },
  { type: 'tool-input-start', toolCallId: 'c1', toolName: 'clock', stepId: 's1' },
  { type: 'tool-input-delta', toolCallId: 'c1', delta: '{"zone":"UTC"}' },
  { type: 'tool-input-end', toolCallId: 'c1' },
  { type: 'tool-call', toolCallId: 'c1', toolName: 'clock', input: { zone: 'UTC' }, stepId: 's1' },
  { type: 'tool-result', toolCallId: 'c1', status: 'ok', output: '12:00' },
  { type: 'step-end', stepId: 's1' },
  { type: 'run-end', outcome: 'complete' },
];

export function smoke() {
  /** @type {core.Loss[]} */
  const losses = [];
  // Whole, and cut after every event: whatever ends a run, its seal closes it, the checker has nothing to say, and the fold
  // gives one message, whose own events fold into it again.
  const messages = Array.from({ length: stream.length + 1 }, (_, cut) => {
    const sealed = transcode(
      seal(run, (loss) => losses.push(loss)),
      stream.slice(0, cut),
    );
    const { violations } = check(canonical, sealed);
    if (violations.length > 0) throw new Error(`cut at ${cut}: ${JSON.stringify(violations)}`);
    const message = foldEvents(sealed);
    if (!message) throw new Error(`cut at ${cut}: no message`);
    const again = foldEvents(unfold(message));
    if (!again) throw new Error(`cut at ${cut}: no message after unfold`);
    const [before, after] = [message, again].map((m) => JSON.stringify(m.content.parts));
    if (before !== after) throw new Error(`cut at ${cut}: ${before} became ${after}`);
    return encodeMessage(message);
  });

  const unsealed = check(canonical, stream).violations.map(({ rule }) => rule);
  if (unsealed.length === 0) throw new Error('A stream without a frame must not pass the check.');

  return {
    exports: { core: Object.keys(core).toSorted(), conformance: Object.keys(conformance).toSorted() },
    messages,
    losses,
    unsealed,
  };
}

// @ts-check
// Runs the same program on every platform of the packages: Node.js, a browser, a worker. Returns plain JSON, so that platforms
// can be compared.
import * as conformance from '@intertie/conformance';
import * as core from '@intertie/core';
import { CANONICAL } from '@intertie/core/internal';

const { createInMemoryStore, encodeMessage, foldEvents, formatTape, parseTape, seal, transcode, unfold } = core;
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

export async function smoke() {
  /** @type {core.Loss[]} */
  const losses = [];
  // The complete run, and the run cut after every event: the seal closes it, the checker finds no violation, the fold gives one
  // message, and its unfolded events fold into the same message.
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
  if (unsealed.length === 0) throw new Error('A stream without run-start must not pass the check.');

  // A tape survives a round trip through bytes.
  const items = stream.map((event, t) => ({ t, item: /** @type {core.Json} */ (event) }));
  const tape = formatTape({ header: { tape: 1, dialect: CANONICAL }, items });
  const played = parseTape(new TextEncoder().encode(tape)).items.map(({ item }) => JSON.stringify(item));
  if (played.join() !== stream.map((event) => JSON.stringify(event)).join())
    throw new Error(`the tape became ${played.join()}`);

  // The store creates ids and timestamps, so only the content is returned.
  const store = createInMemoryStore();
  const whole = foldEvents(
    transcode(
      seal(run, () => {}),
      stream,
    ),
  );
  if (!whole) throw new Error('no message');
  await store.saveMessages({ messages: [whole] });
  const stored = await store.listMessages({ threadId: run.threadId });
  if (stored.length !== 1) throw new Error(`the store returned ${stored.length} messages`);
  const foreign = await store.forScope('someone else').listMessages({ threadId: run.threadId });
  if (foreign.length > 0) throw new Error('another scope sees the thread');

  return {
    stored: stored.map((message) => encodeMessage(message).content),
    tape,
    exports: { core: Object.keys(core).toSorted(), conformance: Object.keys(conformance).toSorted() },
    messages,
    losses,
    unsealed,
  };
}

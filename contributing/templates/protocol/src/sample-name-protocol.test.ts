import { canonical, check } from '@intertie/conformance';
import { compose, seal, transcode, type AgentEvent, type Loss, type RunInput } from '@intertie/core';
import { expect, it } from 'vitest';
import { sampleNameProtocol } from './sample-name-protocol.ts';

const run: RunInput = {
  runId: 'r',
  threadId: 't',
  messageId: 'm',
  startedAt: 0,
  history: [],
  answers: [],
  tools: [],
  context: [],
};
const events: AgentEvent[] = [
  { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm' },
  { type: 'text-start', id: 'a' },
  { type: 'text-delta', id: 'a', delta: 'Hello' },
  { type: 'text-end', id: 'a' },
  { type: 'notice', level: 'info', message: 'Note' },
  { type: 'run-end', outcome: 'complete' },
];
const losses: Loss[] = [];
const items = transcode(
  sampleNameProtocol.encoder!(run, (loss) => void losses.push(loss)),
  events,
);

it('encodes text and reports other events as losses', () => {
  expect(items).toEqual([{ type: 'begin' }, { type: 'text', text: 'Hello' }, { type: 'end', outcome: 'complete' }]);
  expect(losses.map(({ what }) => what)).toEqual(['notice']);
});

it('follows its own rules and decodes to a valid run', () => {
  expect(check(sampleNameProtocol, items).violations).toEqual([]);
  const codec = compose(
    sampleNameProtocol.decoder!(run, () => undefined),
    seal(run, () => undefined),
  );
  const decoded = transcode(codec, [...items, { type: 'unknown' }]);
  expect(check(canonical, decoded).violations).toEqual([]);
});

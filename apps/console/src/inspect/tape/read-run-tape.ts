import { compose, parseTape, seal, type AgentEvent, type Protocol, type RunInput, type Tape } from '@intertie/core';
import { CANONICAL, readEvent } from '@intertie/core/internal';

const ignore = (): void => undefined;

/** Parses a tape to canonical events. Decodes tapes of a front-end protocol; decoded events have the time of their item. */
export async function readRunTape(text: string): Promise<Tape<AgentEvent>> {
  const tape = parseTape(text);
  const { dialect: name } = tape.header;
  if (name === CANONICAL) {
    const items = tape.items.map(({ t, item }) => ({ t, item: readEvent(item) }));
    return { header: tape.header, items };
  }
  const protocol = await loadProtocol(name);
  if (!protocol?.decoder) {
    throw new Error(
      `The tape contains the protocol "${name}", which the console cannot read. ` +
        'Convert it first: intertie convert <tape> --to canonical.',
    );
  }
  const run: RunInput = {
    runId: 'tape',
    threadId: 'tape',
    messageId: 'tape',
    startedAt: Date.parse(tape.header.createdAt ?? '') || 0,
    history: [],
    answers: [],
    tools: [],
    context: [],
  };
  const codec = compose(protocol.decoder(run, ignore), seal(run, ignore));
  const items: Array<{ t: number; item: AgentEvent }> = [];
  let t = 0;
  const emit = (item: AgentEvent): void => void items.push({ t, item });
  for (const line of tape.items) {
    ({ t } = line);
    codec.feed(line.item, emit);
  }
  codec.end({ reason: 'eof' }, emit);
  return { header: { ...tape.header, dialect: CANONICAL }, items };
}

async function loadProtocol(name: string): Promise<Protocol | undefined> {
  if (name === 'ui-message-stream')
    return (await import('../streams/ui-message-target.ts')).createUIMessageTarget(7).protocol;
  if (name === 'ag-ui') return (await import('../streams/ag-ui-target.ts')).agUiTarget.protocol;
  return undefined;
}

import { compose, parseTape, seal, type AgentEvent, type RunInput, type Tape } from '@intertie/core';
import { CANONICAL, readEvent } from '@intertie/core/internal';
import { emptyRun } from '../empty-run.ts';

const ignore = (): void => undefined;

/** Parses a tape to canonical events. Decodes tapes of a front-end protocol; decoded events have the time of their item. */
export async function readRunTape(text: string): Promise<Tape<AgentEvent>> {
  const tape = parseTape(text);
  const { dialect: name } = tape.header;
  if (name === CANONICAL) {
    const items = tape.items.map(({ t, item }) => ({ t, item: readEvent(item) }));
    return { header: tape.header, items };
  }
  const { tapeProtocols } = await import('../../tape-protocols.ts');
  const protocol = tapeProtocols.find((each) => each.name === name);
  if (!protocol?.decoder) {
    throw new Error(
      `The tape contains the protocol "${name}", which the console cannot read. ` +
        'Convert it first: intertie convert <tape> --to canonical.',
    );
  }
  const run: RunInput = { ...emptyRun, startedAt: Date.parse(tape.header.createdAt ?? '') || 0 };
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

import type { AgentEvent, Codec, OnLoss, RunInput } from '@intertie/core';
import { takeWriter, type AGUIWriter } from './ag-ui-writer.ts';
import { MergedParts } from './merge-writes.ts';
import { withWrites } from './with-writes.ts';

/** What a run is read from. */
type Reading = { parts: () => AsyncIterable<unknown>; decoder: Codec<unknown, AgentEvent> };

/** The same with what a writer adds. A writer of another run is said to be one when the parts are read. */
export function writeInto(
  reading: Reading,
  writer: AGUIWriter | undefined,
  { run, onLoss }: { run: RunInput; onLoss: OnLoss },
): Reading {
  if (writer === undefined) return reading;
  const queue = takeWriter(writer, onLoss);
  if (queue instanceof Error) {
    const parts = (): never => {
      throw queue;
    };
    return { ...reading, parts };
  }
  const parts = (): AsyncIterable<unknown> => new MergedParts(reading.parts(), queue);
  return { parts, decoder: withWrites(reading.decoder, queue, run) };
}

import type { AgentEvent, Codec, OnLoss, RunInput } from '@intertie/core';
import type { SourceInput } from '@intertie/core/internal';
import { takeWriter, type AGUIWriter } from './ag-ui-writer.ts';
import { MergedParts } from './merge-writes.ts';
import { withWrites } from './with-writes.ts';

/** Input of a run and its decoder. */
interface DecodedInput {
  parts: SourceInput<unknown>;
  decoder: Codec<unknown, AgentEvent>;
}

/** Adds the events of a writer to a run. A writer that belongs to another run fails the run when its parts are read. */
export function writeInto(
  input: DecodedInput & { parts: AsyncIterable<unknown> },
  writer: AGUIWriter | undefined,
  { run, onLoss }: { run: RunInput; onLoss: OnLoss },
): DecodedInput {
  if (writer === undefined) return input;
  const queue = takeWriter(writer, onLoss);
  if (queue instanceof Error) return { ...input, parts: () => Promise.reject(queue) };
  return { parts: new MergedParts(input.parts, queue), decoder: withWrites(input.decoder, queue, run) };
}

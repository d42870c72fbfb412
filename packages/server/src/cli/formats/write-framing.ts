import { writeTape, type JsonObject, type Protocol, toJson } from '@intertie/core';
import { TAPE_VERSION, asFields } from '@intertie/core/internal';
import { ToolError } from '../tool-error.ts';

export type OutputFraming = 'sse' | 'ndjson' | 'tape';
const outputFramings: readonly OutputFraming[] = ['sse', 'ndjson', 'tape'];

/** Encodes items as text. `time` is called only if the format contains times. */
export interface FramingWriter {
  item(item: unknown, time: () => number): string;
  /** Called after each run, since one run is one stream of the protocol. */
  runEnd(): string;
  end(): string;
}

export function writeFraming(
  framing: OutputFraming,
  { name, framing: bytes }: Protocol,
  header: JsonObject,
): FramingWriter {
  switch (framing) {
    case 'ndjson':
      return { item: (item) => `${JSON.stringify(item)}\n`, runEnd: () => '', end: () => '' };
    case 'sse': {
      const done = bytes.hasDone ? 'data: [DONE]\n\n' : '';
      return { item: bytes.hasEventNames ? toNamedFrame : toDataFrame, runEnd: () => done, end: () => '' };
    }
    case 'tape':
      return tapeWriter(name, header);
  }
}

function toDataFrame(item: unknown): string {
  return `data: ${JSON.stringify(item)}\n\n`;
}

function toNamedFrame(item: unknown): string {
  const { event, data } = asFields(item);
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `event: ${String(event)}\n${text.replaceAll(/^/gm, 'data: ')}\n\n`;
}

function tapeWriter(dialect: string, header: JsonObject): FramingWriter {
  const codec = writeTape({ tape: TAPE_VERSION, dialect, ...header });
  let text = '';
  const emit = (line: string): void => void (text += line);
  const drain = (): string => {
    const drained = text;
    text = '';
    return drained;
  };
  return {
    item: (item, time) => {
      codec.feed({ t: time(), item: toJson(item) }, emit);
      return drain();
    },
    runEnd: () => '',
    end: () => {
      codec.end({ reason: 'eof' }, emit);
      return drain();
    },
  };
}

/** Selects the output format: the option, else the extension of the file, else the usual format of the protocol. */
export function selectOutputFraming(
  name: string | undefined,
  file: string | undefined,
  { framing: { mediaTypes } }: Protocol,
): OutputFraming {
  if (name !== undefined) {
    const found = outputFramings.find((framing) => framing === name || (name === 'jsonl' && framing === 'ndjson'));
    if (found) return found;
    throw new ToolError('usage', `“${name}” is not an output format.`, `Use one of ${outputFramings.join(', ')}.`);
  }
  if (file?.endsWith('.tape.jsonl') || file?.endsWith('.tape')) return 'tape';
  if (file?.endsWith('.sse') || file?.endsWith('.txt')) return 'sse';
  if (file?.endsWith('.jsonl') || file?.endsWith('.ndjson')) return 'ndjson';
  return mediaTypes[0] === 'application/x-ndjson' ? 'ndjson' : 'sse';
}

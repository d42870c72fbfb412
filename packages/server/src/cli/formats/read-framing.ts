import { compose, readTape, type Codec, type Emit, type TapeHeader } from '@intertie/core';
import { splitLines, type Line, type TapeLine } from '@intertie/core/internal';
import type { Frame, FrameProblem, Framing } from './frame.ts';

/** Maximum length of a line. Lines can contain whole files in base64. */
const maxLineLength = 64 * 1024 * 1024;

/** Decodes bytes to frames. Unreadable input becomes a `problem` frame, so that it is always reported. */
export function readFraming(framing: Framing, onHeader?: (header: TapeHeader) => void): Codec<Uint8Array, Frame> {
  switch (framing) {
    case 'sse':
      return compose(splitLines(maxLineLength), readEvents());
    case 'ndjson':
      return compose(splitLines(maxLineLength), readLines());
    case 'tape':
      return compose(readTape({ maxLineLength }), readItems(onHeader));
    case 'json':
      return readDocument();
  }
}

const problems: { [problem in FrameProblem]: string } = {
  json: 'It is not valid JSON.',
  cut: 'It is truncated: the stream ends inside it.',
  encoding: 'It is not valid UTF-8.',
  size: 'It exceeds the maximum size.',
};

export function problemFrame(
  line: number,
  problem: FrameProblem,
  text = '',
  message: string = problems[problem],
): Frame {
  return { type: 'problem', line, problem, message, text };
}

function toProblemFrame({ line, problem }: Extract<Line, { problem: string }>): Frame {
  return problemFrame(line, problem === 'encoding' ? 'encoding' : 'size');
}

function readLines(): Codec<Line, Frame> {
  return {
    feed(line, emit) {
      if (line.text === undefined) return emit(toProblemFrame(line));
      const text = stripByteOrderMark(line).trim();
      if (text !== '') emit({ type: 'text', line: line.line, text });
    },
    end() {},
  };
}

/** Some editors write a byte order mark before the first line. */
function stripByteOrderMark({ line, text }: Extract<Line, { text: string }>): string {
  return line === 1 ? text.replace(/^\ufeff/, '') : text;
}

/** Parses server-sent events. Comments, ids and retry times are ignored. */
function readEvents(): Codec<Line, Frame> {
  let data: string | undefined;
  let event: string | undefined;
  let start = 1;

  const dispatch = (emit: Emit<Frame>, cut: boolean): void => {
    if (data === '[DONE]') emit({ type: 'done', line: start });
    else if (data !== undefined) {
      emit({ type: 'text', line: start, text: data, ...(event !== undefined && { event }), ...(cut && { cut }) });
    }
    data = undefined;
    event = undefined;
  };

  return {
    feed(line, emit) {
      if (line.text === undefined) return emit(toProblemFrame(line));
      const text = stripByteOrderMark(line);
      if (text === '') return dispatch(emit, false);
      if (data === undefined && event === undefined) start = line.line;
      const colon = text.indexOf(':');
      const value = colon === -1 ? '' : text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1);
      const name = colon === -1 ? text : text.slice(0, colon);
      if (name === 'data') data = data === undefined ? value : `${data}\n${value}`;
      else if (name === 'event' && value !== '') event = value;
    },
    end: (_, emit) => dispatch(emit, true),
  };
}

function readItems(onHeader: ((header: TapeHeader) => void) | undefined): Codec<TapeLine, Frame> {
  // Approximate: the header is line 1, blank lines are not counted, and errors correct the number.
  let line = 1;
  return {
    feed(read, emit) {
      if (read.type === 'header') return onHeader?.(read.header);
      line += 1;
      if (read.type === 'item') return emit({ type: 'value', line, value: read.item.item, t: read.item.t });
      const { type, message } = read.error;
      line = read.error.line;
      emit(problemFrame(line, type === 'torn' ? 'cut' : type === 'oversized' ? 'size' : 'json', '', message));
    },
    end() {},
  };
}

/** Reads a whole JSON document into memory: a history or a response, not a stream. */
function readDocument(): Codec<Uint8Array, Frame> {
  const decoder = new TextDecoder();
  let text = '';
  let isTooLong = false;
  return {
    feed(bytes) {
      isTooLong ||= text.length > maxLineLength;
      if (!isTooLong) text += decoder.decode(bytes, { stream: true });
    },
    end(_, emit) {
      if (isTooLong) return emit(problemFrame(1, 'size'));
      let value: unknown;
      try {
        value = JSON.parse((text + decoder.decode()).replace(/^\ufeff/, ''));
      } catch (error) {
        return emit(problemFrame(1, 'json', text.slice(0, 200), `It is not valid JSON: ${(error as Error).message}`));
      }
      for (const item of getItems(value)) emit({ type: 'value', line: 1, value: item });
    },
  };
}

/** Returns the items of a document: a list, an object with `messages` or `events`, or a single item. */
export function getItems(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  const { messages, events, type, role, event } = (value ?? {}) as { [key: string]: unknown };
  const list = messages ?? events;
  return Array.isArray(list) && type === undefined && role === undefined && event === undefined ? list : [value];
}

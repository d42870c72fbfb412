import type { Rule } from '@intertie/core';
import type { FrameProblem } from './frame.ts';

/** Rules of the framing, which apply to every dialect. */
export const frameRules: { readonly [problem in FrameProblem]: Rule } = {
  json: {
    id: 'frame-json',
    sentence: 'Every event or line contains one JSON value.',
    fix: 'Write JSON on a single line. Use `JSON.stringify` for texts with line breaks, not a template.',
  },
  cut: {
    id: 'frame-cut',
    sentence: 'The last event is complete and ends with a blank line.',
    fix: 'Write two line breaks after every event, including the last one, or clients drop it. Check for a lost connection.',
  },
  encoding: {
    id: 'frame-utf8',
    sentence: 'The bytes are UTF-8.',
    fix: 'Encode whole texts, not chunks that are split inside a character.',
  },
  size: {
    id: 'frame-size',
    sentence: 'An event does not exceed the maximum size of a reader.',
    fix: 'Send large files by URL.',
  },
};

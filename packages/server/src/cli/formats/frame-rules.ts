import type { Rule } from '@intertie/core';
import type { FrameProblem } from './frame.ts';

/** What holds for the bytes around the items, whatever the dialect. */
export const frameRules: { readonly [problem in FrameProblem]: Rule } = {
  json: {
    id: 'frame-json',
    sentence: 'Every event or line holds one JSON value.',
    fix: 'Write JSON on a single line. A text with a line break in it needs `JSON.stringify`, not a template.',
  },
  cut: {
    id: 'frame-cut',
    sentence: 'The last event is whole, and a blank line ends it.',
    fix: 'Write two line breaks after every event, also after the last one, or clients drop it. Was the connection lost?',
  },
  encoding: {
    id: 'frame-utf8',
    sentence: 'The bytes are UTF-8.',
    fix: 'Encode whole texts, not pieces that are cut inside a character.',
  },
  size: {
    id: 'frame-size',
    sentence: 'An event is not longer than what a reader holds.',
    fix: 'Send large files by their URL.',
  },
};

import type { Finding } from './examine.ts';
import type { Major } from './providers.ts';

/** A difference that stays, and why. */
type Difference = {
  check: Finding['check'];
  /** Part of the recording's path. */
  path: string;
  majors?: readonly Major[];
  detail: RegExp;
  why: string;
};

/** Every difference that is not an error of ours. A finding that no entry names fails the test. */
export const differences: readonly Difference[] = [
  {
    check: 'same provider',
    path: 'parallel-tool-call-wrapper',
    detail: /^\.thrown is nothing/,
    why: 'The AI SDK refuses its own messages, since one wrapped call has no result. The source settles it and continues.',
  },
  {
    check: 'same provider',
    path: 'openai-error',
    detail: /^\.thrown is nothing/,
    why: 'The AI SDK has no messages to send after an error. The source continues from the history.',
  },
  {
    check: 'same provider',
    path: 'empty-text',
    majors: [6],
    detail: /^\.input\.2\.role is "assistant" instead of "user"/,
    why: 'ai 6 leaves out empty text although it has an item id; ai 7 sends it, and so does the source on both.',
  },
];

/** The entry that names a finding. */
export function findDifference({ check, detail }: Finding, path: string, major: Major): Difference | undefined {
  return differences.find(
    (known) =>
      known.check === check &&
      path.includes(known.path) &&
      known.detail.test(detail) &&
      (known.majors === undefined || known.majors.includes(major)),
  );
}

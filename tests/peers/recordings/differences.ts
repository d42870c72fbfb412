import type { Finding } from './examine.ts';
import type { Major } from './providers.ts';

/** An accepted difference, and the reason. */
type Difference = {
  check: Finding['check'];
  /** Part of the recording's path. */
  path: string;
  majors?: readonly Major[];
  detail: RegExp;
  why: string;
};

/** Every accepted difference. A finding without an entry fails the test. */
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
  {
    check: 'same provider',
    path: 'image-generation',
    detail:
      /^the AI SDK repeats what is sent once, and nothing else differs: \.input\.\d+\.(?:id is "msg_\w+" instead of "ig_\w+"|type is nothing instead of "item_reference")$/,
    why: 'The AI SDK refers to the image once for each partial image. The source sends one reference to the final image.',
  },
  {
    check: 'same provider',
    path: '/openai-image-generation-tool.1',
    majors: [6],
    detail: /^\.input\.3\.id is "msg_\w+" instead of "ig_\w+"$/,
    why: 'Two differences at once: the AI SDK refers to the image twice, and ai 6 leaves out the empty text behind it.',
  },
  {
    check: 'same provider',
    path: '/anthropic',
    majors: [7],
    detail:
      /^the AI SDK repeats what is sent once, and nothing else differs: \.messages\.\d+\.content\.\d+\.(?:tool_use_id is "toolu_\w+" instead of "toolu_\w+"|type is "text" instead of "tool_result")$/,
    why: 'ai 7 runs the tools again at the end of each response in one stream and sends all results. Anthropic takes one for each call, which is what the source sends.',
  },
  {
    check: 'same provider',
    path: 'spliced-message-start',
    detail:
      /^\.messages\.(?:0\.content\.1 is {"type":"text","text":"Continue\."} instead of nothing|1\.role is "user" instead of "assistant")$/,
    why: 'The stream fails after reasoning, inside the input of a call. The AI SDK sends the reasoning alone, and Anthropic refuses a message that ends with it. The source leaves it out.',
  },
  {
    check: 'UI',
    path: 'spliced-message-start',
    detail: /^live and reloaded: \.\d\.input is nothing instead of {"value":"Spark"}$/,
    why: 'The stream fails inside the input of a call. A live client completes the JSON by a guess. The reloaded message has the received text, as rawInput.',
  },
  {
    check: 'same provider',
    path: '/programmatic-tool-calling.3',
    majors: [7],
    detail: /^\.input\.1\.type is nothing instead of "item_reference"$/,
    why: 'The recording starts with the result of a program of the response before it. Without that response there is no call to store the result with; the source passes the result on as raw.',
  },
  {
    check: 'same provider',
    path: 'github-copilot-id-rotation',
    majors: [6],
    detail: /^\.thrown is nothing instead of "Cannot read properties of undefined \(reading 'summaryParts'\)"$/,
    why: 'The OpenAI package for ai 6 throws when an item changes its id, so the AI SDK has no messages. The run of the source ends with an error, and the thread continues from the history.',
  },
];

/** Finds the entry for a finding. */
export function findDifference({ check, detail }: Finding, path: string, major: Major): Difference | undefined {
  return differences.find(
    (known) =>
      known.check === check &&
      path.includes(known.path) &&
      known.detail.test(detail) &&
      (known.majors === undefined || known.majors.includes(major)),
  );
}

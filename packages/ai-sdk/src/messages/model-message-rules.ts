import type { Rule } from '@intertie/core';

export type ModelMessageRule =
  | 'M0-shape'
  | 'M1-system'
  | 'M2-first'
  | 'M2-last'
  | 'M3-empty'
  | 'M4-id'
  | 'M4-name'
  | 'M4-input'
  | 'M5-answered'
  | 'M5-next'
  | 'M5-orphan'
  | 'M6-reasoning'
  | 'M7-approval'
  | 'M8-file';

/** What Anthropic, OpenAI (Responses) and Gemini take as history, and the AI SDK before them. Each has a refusal of its own. */
export const modelMessageRules: ReadonlyArray<Rule & { id: ModelMessageRule }> = [
  {
    id: 'M0-shape',
    sentence: 'Every item is a model message: a role, and a content of parts that belong to that role.',
    fix: 'Make the messages with `toAiSdkMessages`; UI messages go through `fromUIMessages` first.',
  },
  {
    id: 'M1-system',
    sentence: 'System messages come first, before anybody else has spoken.',
    fix: 'Give instructions as `instructions` or `system`; tell the model later things as the user.',
  },
  {
    id: 'M2-first',
    sentence: 'The first to speak is the user.',
    fix: 'Keep the user message that the first answer belongs to when a history is shortened.',
  },
  {
    id: 'M2-last',
    sentence:
      'The last message is a user’s or a tool’s: an assistant’s would be taken for the beginning of the next answer.',
    fix: 'Add the new user message, or the result that the answer waits for.',
  },
  {
    id: 'M3-empty',
    sentence:
      'No message is empty, and no text is empty or only white space, unless its provider marked it or an adjacent text.',
    fix: 'Leave empty texts and messages out; `repairHistory` does.',
  },
  {
    id: 'M4-id',
    sentence: 'The id of a call is unique, made of letters, digits, "_" and "-", and at most 64 long.',
    fix: 'Rename the call and its result together; `toAiSdkMessages` does.',
  },
  {
    id: 'M4-name',
    sentence: 'The name of a tool is made of letters, digits, "_" and "-", and at most 64 long.',
    fix: 'Rename the tool where it is defined.',
  },
  {
    id: 'M4-input',
    sentence: 'The input of a call is an object, or text if it is of an OpenAI custom tool and goes back to OpenAI.',
    fix: 'Send `{}` for a call whose input could not be parsed; its error result says the rest.',
  },
  {
    id: 'M5-answered',
    sentence: 'Every call that the provider has not run itself has a result, or an answered approval at the very end.',
    fix: 'Settle calls that were interrupted with an error result; `repairHistory` does.',
  },
  {
    id: 'M5-next',
    sentence: 'The results of a turn’s calls come in the message right behind it.',
    fix: 'Split the answer into its turns, each with its tool message; `toAiSdkMessages` does.',
  },
  {
    id: 'M5-orphan',
    sentence: 'A result belongs to a call before it, and a call has one result.',
    fix: 'Cut histories between turns, never between a call and its result.',
  },
  {
    id: 'M6-reasoning',
    sentence: 'Reasoning leads to something in its message: a text or a call follows it.',
    fix: 'Leave out the reasoning of a turn that was cut while the model was thinking.',
  },
  {
    id: 'M7-approval',
    sentence: 'An approval is about a call of its message, and its answer names a request before it.',
    fix: 'Keep request and answer together, and both with their call.',
  },
  {
    id: 'M8-file',
    sentence: 'A file has bytes or an absolute URL, and a media type.',
    fix: 'Turn relative URLs into absolute ones or into bytes before the model is asked.',
  },
];

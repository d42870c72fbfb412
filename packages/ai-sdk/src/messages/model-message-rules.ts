import type { Rule } from '@intertie/core';

/** Id of a model message rule. */
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

/** Rules for a history that Anthropic, OpenAI (Responses), Gemini and the AI SDK accept. Each rule has a known rejection. */
export const modelMessageRules: ReadonlyArray<Rule & { id: ModelMessageRule }> = [
  {
    id: 'M0-shape',
    sentence: 'Every item is a model message: a role, and content with parts that the role allows.',
    fix: 'Create the messages with `toAiSdkMessages`; convert UI messages with `fromUIMessages` first.',
  },
  {
    id: 'M1-system',
    sentence: 'System messages come first, before all other messages.',
    fix: 'Pass instructions as `instructions` or `system`; send later instructions as a user message.',
  },
  {
    id: 'M2-first',
    sentence: 'The first message after the system messages is from the user.',
    fix: 'Keep the user message before the first answer when you shorten a history.',
  },
  {
    id: 'M2-last',
    sentence:
      'The last message is from the user or a tool: providers treat a final assistant message as the start of their answer.',
    fix: 'Add the new user message, or the missing tool result.',
  },
  {
    id: 'M3-empty',
    sentence:
      'No message is empty, and no text is empty or only white space, unless it or an adjacent text has provider metadata.',
    fix: 'Remove empty texts and messages; `repairHistory` does.',
  },
  {
    id: 'M4-id',
    sentence: 'The id of a call is unique, made of letters, digits, "_" and "-", and at most 64 characters long.',
    fix: 'Rename the call and its result together; `toAiSdkMessages` does.',
  },
  {
    id: 'M4-name',
    sentence: 'The name of a tool is made of letters, digits, "_" and "-", and at most 64 characters long.',
    fix: 'Rename the tool where it is defined.',
  },
  {
    id: 'M4-input',
    sentence: 'The input of a call is an object, or text for an OpenAI custom tool whose call goes back to OpenAI.',
    fix: 'Send `{}` for a call whose input could not be parsed; its error result explains the rest.',
  },
  {
    id: 'M5-answered',
    sentence: 'Every call that the provider did not run has a result, or an answered approval at the very end.',
    fix: 'Settle interrupted calls with an error result; `repairHistory` does.',
  },
  {
    id: 'M5-next',
    sentence: 'The results of an assistant message’s calls are in the message directly after it.',
    fix: 'Split the answer into steps, each followed by its tool message; `toAiSdkMessages` does.',
  },
  {
    id: 'M5-orphan',
    sentence: 'A result belongs to an earlier call, and a call has one result.',
    fix: 'Cut histories between steps, never between a call and its result.',
  },
  {
    id: 'M6-reasoning',
    sentence: 'Reasoning is followed by a text or a call in its message.',
    fix: 'Remove the reasoning of a step that was cut during reasoning.',
  },
  {
    id: 'M7-approval',
    sentence: 'An approval request belongs to an earlier call, and a response to an earlier request.',
    fix: 'Keep request and response together with their call.',
  },
  {
    id: 'M8-file',
    sentence: 'A file has data or an absolute URL, and a media type.',
    fix: 'Convert relative URLs to absolute ones or to data before you call the model.',
  },
];

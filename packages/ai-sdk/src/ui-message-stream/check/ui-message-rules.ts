import type { Rule } from '@intertie/core';

export type UIMessageRule =
  | 'T0-shape'
  | 'T1-text'
  | 'T2-reasoning'
  | 'T3-input'
  | 'T4-call'
  | 'T5-approval'
  | 'T6-step'
  | 'T7-metadata'
  | 'T8-error'
  | 'S1-end'
  | 'S2-open'
  | 'S3-finish'
  | 'S4-order'
  | 'S5-dynamic'
  | 'S6-once'
  | 'S7-output'
  | 'S8-data'
  | 'S9-start'
  | 'S10-replace'
  | 'S11-abort'
  | 'S12-empty'
  | 'S13-result'
  | 'S14-frame';

/**
 * Rules of a UI message stream. If a T rule is violated, the client throws and the stream fails. If an S rule is violated, the
 * client silently shows something wrong.
 */
export const uiMessageRules: ReadonlyArray<Rule & { id: UIMessageRule }> = [
  {
    id: 'T0-shape',
    sentence: 'Every item is a chunk that `uiMessageChunkSchema` of the reader accepts.',
    fix: 'Write `null` if `input`, `output` or `data` has no value, omit optional fields, and send chunks of 7 only to 7.',
  },
  {
    id: 'T1-text',
    sentence: '`text-delta` and `text-end` refer to an open text.',
    fix: 'Write `text-start` with the id first, and nothing for it after `text-end`.',
  },
  {
    id: 'T2-reasoning',
    sentence: '`reasoning-delta` and `reasoning-end` refer to open reasoning.',
    fix: 'Write `reasoning-start` with the id first, and nothing for it after `reasoning-end`.',
  },
  {
    id: 'T3-input',
    sentence: '`tool-input-delta` follows the `tool-input-start` of its call.',
    fix: 'Write `tool-input-start` with the call id and the tool name first.',
  },
  {
    id: 'T4-call',
    sentence: 'Outputs and approval requests refer to a call of the message.',
    fix: 'Write the call first, or read the stream with the message that contains it.',
  },
  {
    id: 'T5-approval',
    sentence: '`tool-approval-response` answers a request of the message.',
    fix: 'Write `tool-approval-request` with the approval id first.',
  },
  {
    id: 'T6-step',
    sentence: 'No text or reasoning continues after `finish-step`: ai 6 forgets open parts.',
    fix: 'Close all parts before `finish-step`; if agents interleave, omit the boundary until no part is open.',
  },
  {
    id: 'T7-metadata',
    sentence: "Message metadata is an object, and metadata and data match the page's schemas.",
    fix: 'Send an object with the fields that the page expects.',
  },
  {
    id: 'T8-error',
    sentence: 'Nothing follows `error`: a chat stops there.',
    fix: 'Send `error` last, and send errors that do not end the run as data.',
  },
  {
    id: 'S1-end',
    sentence: 'Every text and reasoning part ends; otherwise the client shows it as streaming forever.',
    fix: 'Write `text-end` and `reasoning-end`, also before `abort` and `error`.',
  },
  {
    id: 'S2-open',
    sentence: 'An open id is not started again: its first part would stay unfinished.',
    fix: 'Use ids that are unique in the message.',
  },
  {
    id: 'S3-finish',
    sentence: 'The stream ends with `finish`, `abort` or `error`; otherwise a truncated stream looks complete.',
    fix: 'Write `finish` at the end, and make the transport fail if it is missing.',
  },
  {
    id: 'S4-order',
    sentence: '`start-step` and `finish-step` come in pairs, and nothing follows `finish`.',
    fix: 'Let one writer own the steps and the end.',
  },
  {
    id: 'S5-dynamic',
    sentence: 'All chunks of a call have the same `dynamic` value; otherwise the call has two parts.',
    fix: 'Decide once whether a tool is dynamic, and repeat the value.',
  },
  {
    id: 'S6-once',
    sentence: 'The input of a call is started and completed once, within one step.',
    fix: 'Use a new id for a new call, and write no `start-step` while an input is open.',
  },
  {
    id: 'S7-output',
    sentence: 'All outputs of a call except the last are preliminary.',
    fix: 'Set `preliminary` on all outputs except the last, and write nothing for the call after that.',
  },
  {
    id: 'S8-data',
    sentence: 'Data with the same id has the same name, and is either always or never transient.',
    fix: 'Use one id per data value. A transient chunk does not change data of the message.',
  },
  {
    id: 'S9-start',
    sentence: '`start` is sent once, as the first chunk: another message id renames or empties the message.',
    fix: 'Write one `start` with the id of the message.',
  },
  {
    id: 'S10-replace',
    sentence: 'Provider metadata repeats earlier keys: the client replaces it as a whole.',
    fix: 'Merge the metadata of a part, and send all of it each time.',
  },
  {
    id: 'S11-abort',
    sentence: 'Nothing follows `abort`, which does not stop the client by itself.',
    fix: 'Close the stream after `abort`.',
  },
  {
    id: 'S12-empty',
    sentence: 'A step has content. `start-step` alone shows nothing.',
    fix: 'Write `start-step` when the first part starts.',
  },
  {
    id: 'S13-result',
    sentence: 'Text after a tool result starts a new step; otherwise the model gets it before the result.',
    fix: 'Write `finish-step` and `start-step` between the result and the text, or set the same `providerMetadata.intertie.stepId` on both.',
  },
  {
    id: 'S14-frame',
    sentence: 'An event is JSON without keys that change prototypes, followed by a blank line.',
    fix: 'Omit `__proto__` and `constructor.prototype`, and end every event, including the last, with a blank line.',
  },
];

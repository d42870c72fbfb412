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
 * The rules of a UI message stream. Where a rule with a T is broken, the client throws, and the stream is dead. Where one with
 * an S is broken, it says nothing, and shows something wrong.
 */
export const uiMessageRules: ReadonlyArray<Rule & { id: UIMessageRule }> = [
  {
    id: 'T0-shape',
    sentence: 'Every item is a chunk in the shape that `uiMessageChunkSchema` of the reader takes.',
    fix: 'Write `null` where `input`, `output` or `data` has no value, leave optional fields out, and send chunks of 7 to 7 only.',
  },
  {
    id: 'T1-text',
    sentence: '`text-delta` and `text-end` refer to a text that is open.',
    fix: 'Write `text-start` with the id first, and nothing for it after `text-end`.',
  },
  {
    id: 'T2-reasoning',
    sentence: '`reasoning-delta` and `reasoning-end` refer to reasoning that is open.',
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
    fix: 'Write the call first, or read the stream with the message that has it.',
  },
  {
    id: 'T5-approval',
    sentence: '`tool-approval-response` answers a request of the message.',
    fix: 'Write `tool-approval-request` with the approval id first.',
  },
  {
    id: 'T6-step',
    sentence: 'No text or reasoning goes on after `finish-step`: ai 6 has forgotten it.',
    fix: 'Close all parts before `finish-step`; where agents interleave, leave the boundary out until nothing is open.',
  },
  {
    id: 'T7-metadata',
    sentence: "Message metadata is an object, and fits the page's schema, as data does.",
    fix: 'Send an object, and the fields that the page expects.',
  },
  {
    id: 'T8-error',
    sentence: 'Nothing is said after `error`: a chat stops there.',
    fix: 'Send `error` last, and what went wrong without ending the run as data.',
  },
  {
    id: 'S1-end',
    sentence: 'Every text and reasoning is ended, or it is shown as streaming for ever.',
    fix: 'Write `text-end` and `reasoning-end`, also before `abort` and `error`.',
  },
  {
    id: 'S2-open',
    sentence: 'An id is not opened again while it is open: the first part would stay as it is.',
    fix: 'Use ids that are unique in the message.',
  },
  {
    id: 'S3-finish',
    sentence: 'The stream ends with `finish`, `abort` or `error`. Without, a cut stream looks complete.',
    fix: 'Write `finish` at the end, and let the transport fail where it is missing.',
  },
  {
    id: 'S4-order',
    sentence: '`start-step` and `finish-step` come in pairs, and nothing comes after `finish`.',
    fix: 'Let one writer own the steps and the end.',
  },
  {
    id: 'S5-dynamic',
    sentence: 'All chunks of a call say the same `dynamic`, or the call has two parts.',
    fix: 'Decide once whether a tool is dynamic, and repeat it.',
  },
  {
    id: 'S6-once',
    sentence: 'The input of a call is opened and completed once, within one step.',
    fix: 'Use a new id for a new call, and write no `start-step` while an input is open.',
  },
  {
    id: 'S7-output',
    sentence: 'The outputs of a call are preliminary until the last one.',
    fix: 'Set `preliminary` on all outputs but the last, and write nothing after that.',
  },
  {
    id: 'S8-data',
    sentence: 'Data with the same id has the same name, and is either kept or transient.',
    fix: 'Use one id per piece of data. What was kept stays, whatever a transient chunk says.',
  },
  {
    id: 'S9-start',
    sentence: '`start` comes once and first: another message id renames the message or empties it.',
    fix: 'Write one `start` with the id of the message.',
  },
  {
    id: 'S10-replace',
    sentence: 'Provider metadata repeats what was said before: the client replaces what it has.',
    fix: 'Merge the metadata of a part, and send all of it each time.',
  },
  {
    id: 'S11-abort',
    sentence: 'Nothing is said after `abort`, which does not stop the client by itself.',
    fix: 'Close the stream after `abort`.',
  },
  {
    id: 'S12-empty',
    sentence: 'A step has content. `start-step` alone shows nothing.',
    fix: 'Write `start-step` when the first part begins.',
  },
  {
    id: 'S13-result',
    sentence: 'Text after a tool result begins a new step, or the model gets it before the result.',
    fix: 'Write `finish-step` and `start-step` between the result and the text, or name their common turn in `providerMetadata.intertie.stepId`.',
  },
  {
    id: 'S14-frame',
    sentence: 'A chunk survives its frame: JSON without keys that change prototypes, and a blank line after it.',
    fix: 'Leave out `__proto__` and `constructor.prototype`, and end every event, also the last, with a blank line.',
  },
];

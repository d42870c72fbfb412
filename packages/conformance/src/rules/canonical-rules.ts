import type { Rule } from '@intertie/core';

export type CanonicalRule =
  | 'C0-shape'
  | 'C1-start'
  | 'C1-end'
  | 'C2-id'
  | 'C2-name'
  | 'C3-open'
  | 'C3-close'
  | 'C3-snapshot'
  | 'C4-call'
  | 'C4-result'
  | 'C4-invalid'
  | 'C4-refer'
  | 'C4-back'
  | 'C5-waiting'
  | 'C5-answer'
  | 'C6-agent'
  | 'C6-step'
  | 'C6-once'
  | 'C7-baseline'
  | 'C7-edit'
  | 'C8-state'
  | 'C8-patch';

/** Reports one violation of a rule. `path` is the location of the offending value in the event. */
export type ReportViolation = (rule: CanonicalRule, message: string, path?: string) => void;

/** Invariants 1 to 8 of the canonical stream as rules. The digit of a rule id is the number of its invariant. */
export const canonicalRules: ReadonlyArray<Rule & { id: CanonicalRule }> = [
  {
    id: 'C0-shape',
    sentence: 'Every item is an event of a known type with the fields of that type.',
    fix: 'Emit `raw` for anything the grammar has no event for, and convert values with `toJson`.',
  },
  {
    id: 'C1-start',
    sentence: 'A run has exactly one `run-start`, and it comes first.',
    fix: 'Let `seal` write it: decoders do not emit `run-start`.',
  },
  {
    id: 'C1-end',
    sentence: 'A run has exactly one `run-end`, and it comes last.',
    fix: 'End every source with `seal`, and call `end` exactly once, with the reason.',
  },
  {
    id: 'C2-id',
    sentence: 'Part ids and tool call ids share one namespace and are unique in it.',
    fix: 'Create ids with `createPartIds(run)`; it replaces empty and duplicate wire ids.',
  },
  {
    id: 'C2-name',
    sentence: 'Step, agent and question ids are unique in the message; only a paused agent may start again.',
    fix: 'Number the invocations (`runId:name:n`) instead of reusing a name as the id.',
  },
  {
    id: 'C3-open',
    sentence: 'A delta or an end refers to an open part, step or agent of the same kind.',
    fix: 'Emit the start first, and no event for a part after its end.',
  },
  {
    id: 'C3-close',
    sentence: 'Every part, step and agent is closed once, before `run-end`; a part is closed before its step ends.',
    fix: 'Let `seal` close open parts, or emit the end of the part before the end of its step.',
  },
  {
    id: 'C3-snapshot',
    sentence: '`message-snapshot` is allowed only while no part is open.',
    fix: 'Delay the snapshot until the open part has ended.',
  },
  {
    id: 'C4-call',
    sentence: 'A call is completed once, after its input has ended.',
    fix: 'Emit `tool-input-end` and then one `tool-call` per id.',
  },
  {
    id: 'C4-result',
    sentence: 'A result belongs to a complete call of this run or its baseline, and a call has one final result.',
    fix: 'Delay a result until its call is complete, and report a second one as a loss of kind "late".',
  },
  {
    id: 'C4-invalid',
    sentence: 'An invalid call is never executed: an error result follows it.',
    fix: 'Emit a `tool-result` with status "error" after the invalid call.',
  },
  {
    id: 'C4-refer',
    sentence: 'A question, answer, patch or metadata event refers to an object of this run or its baseline.',
    fix: 'Emit the referenced object first, or emit a `notice` or `raw` event instead.',
  },
  {
    id: 'C4-back',
    sentence: 'A snapshot does not remove calls, questions or answers, and does not revert the state of a call.',
    fix: 'Include every call and question of the run in the state it has reached.',
  },
  {
    id: 'C5-waiting',
    sentence: '`paused` lists what the run waits for: unsettled calls, unanswered questions, or the next message.',
    fix: 'List only pending items; a run that waits for nothing is complete.',
  },
  {
    id: 'C5-answer',
    sentence: 'A question is answered once.',
    fix: 'Accept the first answer and reject the second on arrival.',
  },
  {
    id: 'C6-agent',
    sentence: '`agentId` refers to an agent that has started.',
    fix: 'Emit `agent-start` when an agent first appears.',
  },
  {
    id: 'C6-step',
    sentence: '`stepId` refers to an open step of the same agent.',
    fix: 'Omit `stepId` if the part belongs to no step.',
  },
  {
    id: 'C6-once',
    sentence: '`tool-call` does not contradict the fields of `tool-input-start`.',
    fix: 'Repeat the values of `tool-input-start`, or omit them.',
  },
  {
    id: 'C7-baseline',
    sentence: 'The second event of a continuation is the `message-snapshot` of the message that it continues.',
    fix: 'Set `RunInput.message`; `seal` writes the baseline.',
  },
  {
    id: 'C7-edit',
    sentence: 'A run adds to the message that it continues and does not edit the output of earlier runs.',
    fix: 'Emit a new part, or save the edit as a sibling of the message.',
  },
  {
    id: 'C8-state',
    sentence: 'The first state event of a run is a snapshot.',
    fix: 'Set `RunInput.state`; `seal` writes the snapshot.',
  },
  {
    id: 'C8-patch',
    sentence: 'A patch can be applied to its target.',
    fix: 'Send a snapshot if the receiver may have a different value.',
  },
];

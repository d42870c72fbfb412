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

/** Says which rule is broken, and how. */
export type Complain = (rule: CanonicalRule, message: string, path?: string) => void;

/** The invariants 1 to 8 of the canonical stream, as rules. The digit is the invariant's number. */
export const canonicalRules: ReadonlyArray<Rule & { id: CanonicalRule }> = [
  {
    id: 'C0-shape',
    sentence: 'Every item is an event of a known type in its known shape.',
    fix: 'Carry what the grammar has no event for as `raw`, and convert values with `toJson`.',
  },
  {
    id: 'C1-start',
    sentence: 'A run has exactly one `run-start`, and it comes first.',
    fix: 'Let `seal` write it: decoders emit none.',
  },
  {
    id: 'C1-end',
    sentence: 'A run has exactly one `run-end`, and it comes last.',
    fix: 'End every source with `seal`, and call `end` exactly once, with the reason.',
  },
  {
    id: 'C2-id',
    sentence: 'Part ids and tool call ids share one name space, and none is used twice.',
    fix: 'Mint ids with `createPartIds(run)`; it renames a wire id that is empty or taken.',
  },
  {
    id: 'C2-name',
    sentence:
      'Step, agent and question ids are unique in the message; only an agent that ended paused may start again.',
    fix: 'Number the invocations (`runId:name:n`) instead of reusing a name as the id.',
  },
  {
    id: 'C3-open',
    sentence: 'A delta or an end refers to something that is open, and of the same kind.',
    fix: 'Emit the start first, and nothing for a part after its end.',
  },
  {
    id: 'C3-close',
    sentence: 'Everything that opens closes once, before `run-end`; a part closes before its step ends.',
    fix: 'Let `seal` close what is open, or emit the end before that of the step.',
  },
  {
    id: 'C3-snapshot',
    sentence: '`message-snapshot` comes only while no part is open.',
    fix: 'Hold the snapshot until the open part has ended.',
  },
  {
    id: 'C4-call',
    sentence: 'A call is completed once, after its input has ended.',
    fix: 'Emit `tool-input-end` and then one `tool-call` per id.',
  },
  {
    id: 'C4-result',
    sentence: 'A result belongs to a complete call of this run or its baseline, and a call has one final result.',
    fix: 'Hold a result until its call; enter a second one in the ledger as late.',
  },
  {
    id: 'C4-invalid',
    sentence: 'An invalid call is never run: its error result follows.',
    fix: 'Emit a `tool-result` with status "error" after the invalid call.',
  },
  {
    id: 'C4-refer',
    sentence: 'A question, an answer, a patch or metadata refers to something of this run or of its baseline.',
    fix: 'Emit what it refers to first, or carry it as a `notice` or `raw`.',
  },
  {
    id: 'C4-back',
    sentence: 'Nothing is ever taken back, also not by a snapshot.',
    fix: 'Restate calls in the state they have reached, and leave none out.',
  },
  {
    id: 'C5-waiting',
    sentence: '`paused` says what it waits for: unsettled calls, unanswered questions, or the next message.',
    fix: 'Name only what is pending; a run that waits for nothing is complete.',
  },
  {
    id: 'C5-answer',
    sentence: 'A question is answered once.',
    fix: 'The first answer counts; refuse the second where it arrives.',
  },
  {
    id: 'C6-agent',
    sentence: '`agentId` names an agent that has started.',
    fix: 'Emit `agent-start` at the first sight of an agent.',
  },
  {
    id: 'C6-step',
    sentence: '`stepId` names an open step, and that step is of the same agent.',
    fix: 'Leave `stepId` out where a part belongs to no step.',
  },
  {
    id: 'C6-once',
    sentence: 'What the opening of a call said holds: `tool-call` does not contradict it.',
    fix: 'Repeat the values of `tool-input-start`, or leave them out.',
  },
  {
    id: 'C7-baseline',
    sentence: 'The second event of a continuation is the `message-snapshot` of the message that it continues.',
    fix: 'Give `RunInput.message`; `seal` writes the baseline.',
  },
  {
    id: 'C7-edit',
    sentence: 'A run adds to the message that it continues, and edits nothing that an earlier run has said.',
    fix: 'Say it anew in a part of its own, or let the edit be a sibling of the message.',
  },
  {
    id: 'C8-state',
    sentence: 'The first state event of a run is a snapshot.',
    fix: 'Give `RunInput.state`; `seal` writes the snapshot.',
  },
  {
    id: 'C8-patch',
    sentence: 'A patch applies to what it patches.',
    fix: 'Send a snapshot where the other side may have another value.',
  },
];

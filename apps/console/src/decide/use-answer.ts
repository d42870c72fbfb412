import { useState } from 'react';
import type { AnswerInput } from '../api.ts';
import { useDecide } from './decide-context.ts';

export type Answering = {
  /** Whether an answer can be given. */
  canAnswer: boolean;
  isSending: boolean;
  /** What was answered here; the stream may never say so. */
  given: AnswerInput | undefined;
  complaint: string | undefined;
  give: (answer: AnswerInput) => void;
};

/** One answer on its way: sent once, shown at once, and taken back if it was refused. */
export function useAnswer(): Answering {
  const { isOpen, answer } = useDecide();
  const [given, setGiven] = useState<AnswerInput>();
  const [complaint, setComplaint] = useState<string>();
  const [isSending, setSending] = useState(false);
  const give = async (next: AnswerInput): Promise<void> => {
    setSending(true);
    setComplaint(undefined);
    const refusal = await answer(next);
    setSending(false);
    setComplaint(refusal);
    if (refusal === undefined) setGiven(next);
  };
  return { canAnswer: isOpen && given === undefined, isSending, given, complaint, give: (next) => void give(next) };
}

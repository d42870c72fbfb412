import { createContext, use, useState } from 'react';
import type { AnswerInput } from '../api.ts';

/** Lets the parts of a message answer questions of its run. */
export type AnswerHandler = {
  /** Whether the message accepts answers: it is the last one and not a recording. */
  isOpen: boolean;
  /** User who answered each question or client tool, by its id. */
  answeredBy: { readonly [id: string]: string };
  /** Whether the server has one user only. */
  isAlone: boolean;
  /** Sends an answer. Returns the reason if it was rejected. */
  answer: (answer: AnswerInput) => Promise<string | undefined>;
};

export const AnswerContext = createContext<AnswerHandler>({
  isOpen: false,
  answeredBy: {},
  isAlone: false,
  answer: async () => 'This is a recording.',
});

export type AnswerState = {
  canAnswer: boolean;
  isSending: boolean;
  /** Answer that was accepted. The stream may not contain it. */
  sent: AnswerInput | undefined;
  error: string | undefined;
  send: (answer: AnswerInput) => void;
};

/** State of the answer to one question. */
export function useAnswer(): AnswerState {
  const { isOpen, answer } = use(AnswerContext);
  const [sent, setSent] = useState<AnswerInput>();
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const send = async (next: AnswerInput): Promise<void> => {
    setSending(true);
    setError(undefined);
    const rejection = await answer(next);
    setSending(false);
    setError(rejection);
    if (rejection === undefined) setSent(next);
  };
  return { canAnswer: isOpen && sent === undefined, isSending, sent, error, send: (next) => void send(next) };
}

/** Returns the user who answered a question, for display; undefined if unknown. */
export function useAnswerer(id: string): string | undefined {
  const { answeredBy, isAlone } = use(AnswerContext);
  const by = answeredBy[id];
  return by !== undefined && isAlone ? 'you' : by;
}

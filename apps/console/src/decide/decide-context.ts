import { createContext, use } from 'react';
import type { AnswerInput } from '../api.ts';

/** How a part of a message gets an answer to its run. */
export type Decide = {
  /** Whether answers can be given to this message now: it is the last one, and not a recording. */
  isOpen: boolean;
  /** Gives an answer; what is said against it, if anything. */
  answer: (answer: AnswerInput) => Promise<string | undefined>;
};

const closed: Decide = { isOpen: false, answer: async () => 'This is a recording.' };

export const DecideContext = createContext<Decide>(closed);

export function useDecide(): Decide {
  return use(DecideContext);
}

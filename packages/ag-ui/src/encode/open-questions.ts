import type { Interrupt } from '@ag-ui/core';
import type { EventOf, Outcome, Question } from '@intertie/core';
import type { AgentEncoder } from './encode-agents.ts';
import { encodeInterrupt } from '../shared/interrupt.ts';

type Asked = Question & { agentId?: string };

/** Tracks the open questions of a run, and converts those that a paused run waits for to the AG-UI interrupts of `RUN_FINISHED`. */
export class OpenQuestions {
  #agents: AgentEncoder;
  #open = new Map<string, Asked>();

  constructor(agents: AgentEncoder) {
    this.#agents = agents;
  }

  ask(question: Asked): void {
    this.#open.set(question.questionId, question);
  }

  answer({ questionId }: EventOf<'answer'>): void {
    this.#open.delete(questionId);
  }

  /** Returns the questions that a paused run waits for, as interrupts. */
  interrupts(outcome: Outcome): Interrupt[] {
    return this.#waiting(outcome).map((question) => encodeInterrupt(question, this.#agents.owner(question.agentId)));
  }

  /** Returns the calls that will still get an answer. */
  calls(outcome: Outcome): Set<string> {
    if (outcome.outcome !== 'paused') return new Set();
    const tools = outcome.waitingFor.flatMap((waiting) => (waiting.type === 'tool' ? [waiting.toolCallId] : []));
    return new Set([...tools, ...this.#waiting(outcome).flatMap(({ toolCallId }) => toolCallId ?? [])]);
  }

  #waiting(outcome: Outcome): Asked[] {
    if (outcome.outcome !== 'paused') return [];
    return outcome.waitingFor.flatMap((waiting) => {
      return waiting.type === 'question' ? (this.#open.get(waiting.questionId) ?? []) : [];
    });
  }
}

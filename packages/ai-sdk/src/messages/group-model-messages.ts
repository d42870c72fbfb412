import type { Json, MessagePart, Meta } from '@intertie/core';

/** A part of a model message. */
export type ModelPart = { type: string; [key: string]: Json | URL | undefined };

/** A model message as it is built: of plain parts, which the types of `ai` are too narrow for. */
export type BuiltMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | ModelPart[];
  providerOptions?: Meta;
};

/** One turn of the model: its output, and the results of its calls. */
export type Turn = {
  said: ModelPart[];
  results: ModelPart[];
  /** Text after a call whose result was known within the turn belongs to the next one. */
  isSplit?: boolean;
};

/** The turns of one message, in the order in which they began. The turns of several agents may overlap. */
export class Turns {
  #turns: Turn[] = [];
  #byStep = new Map<string, Turn>();
  #current: { turn: Turn; isOver: boolean } | undefined;

  /** The turn of a part. Where parts name no step, words after a result begin a new one. */
  of(part: MessagePart, kind: 'words' | 'call'): Turn {
    const { stepId } = part;
    const open = stepId === undefined ? undefined : this.#byStep.get(stepId);
    const named = open?.isSplit === true && kind === 'words' ? undefined : open;
    const isOver = this.#current?.isOver === true && kind === 'words';
    const turn = named ?? (stepId === undefined && this.#current && !isOver ? this.#current.turn : this.#begin(stepId));
    const hasResult = part.type === 'tool-invocation' && (part.executor !== 'provider' || turn.isSplit === true);
    // A turn with a name takes what is said without one only until its calls are answered.
    this.#current = { turn, isOver: hasResult || (this.#current?.turn === turn && this.#current.isOver) };
    return turn;
  }

  /** A turn that ends while the model thinks is refused by those who signed the thought: it is told without it. */
  messages(leaveOut: (reasoning: ModelPart) => void): BuiltMessage[] {
    return this.#turns.flatMap(({ said, results }): BuiltMessage[] => {
      while (said.at(-1)?.type === 'reasoning') leaveOut(said.pop()!);
      return [
        ...(said.length > 0 ? [{ role: 'assistant' as const, content: said }] : []),
        ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
      ];
    });
  }

  #begin(stepId: string | undefined): Turn {
    const turn: Turn = { said: [], results: [] };
    this.#turns.push(turn);
    if (stepId !== undefined) this.#byStep.set(stepId, turn);
    return turn;
  }
}

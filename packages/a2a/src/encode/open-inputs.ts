import type { AgentEvent, Json, MessageContent, Question } from '@intertie/core';
import { defined } from '@intertie/core/internal';
import type { Waiting } from '@intertie/core/store';
import type { A2APart } from '../shared/a2a-types.ts';

/** Input that a task waits for, as a data part. A client answers with a data part that has the same `questionId`. */
export type InputRequest = {
  questionId: string;
  kind: 'approval' | 'input' | 'client-tool';
  message?: string;
  reason?: string;
  tool?: string;
  toolCallId?: string;
  input?: Json;
  schema?: Json;
  expiresAt?: string;
};

type Call = { toolName: string; input: Json };

/** Collects questions and tool calls, to describe the input that a run waits for. */
export class OpenInputs {
  #questions = new Map<string, Question>();
  #calls = new Map<string, Call>();

  observe(event: AgentEvent): void {
    if (event.type === 'question') this.#questions.set(event.questionId, event);
    if (event.type === 'tool-call') this.#calls.set(event.toolCallId, event);
    if (event.type === 'message-snapshot') this.observeContent(event.content);
  }

  observeContent({ parts }: MessageContent): void {
    for (const part of parts) {
      if (part.type === 'question') this.#questions.set(part.questionId, part);
      if (part.type !== 'tool-invocation') continue;
      this.#calls.set(part.toolCallId, { toolName: part.toolName, input: part.args ?? null });
      if (part.approval) this.#questions.set(part.approval.questionId, part.approval);
    }
  }

  /** Describes what a run waits for: a text for people, and a data part per question or client tool. */
  toParts(waitingFor: readonly Waiting[]): A2APart[] {
    const requests = waitingFor.flatMap((item) => this.#toRequest(item) ?? []);
    const text = requests.map(toText).join('\n') || 'The agent waits for a message.';
    return [{ text }, ...requests.map((data): A2APart => ({ data, mediaType: 'application/json' }))];
  }

  #toRequest(item: Waiting): InputRequest | undefined {
    if (item.type === 'message') return undefined;
    if (item.type === 'tool') {
      const { toolCallId: questionId } = item;
      const { toolName: tool, input } = this.#calls.get(questionId) ?? {};
      return { questionId, kind: 'client-tool', ...defined({ tool, input }) };
    }
    const { questionId } = item;
    const { kind = 'input', message, reason, schema, toolCallId, expiresAt } = this.#questions.get(questionId) ?? {};
    const { toolName: tool, input } = this.#calls.get(toolCallId ?? '') ?? {};
    return { questionId, kind, ...defined({ message, reason, schema, toolCallId, tool, input, expiresAt }) };
  }
}

function toText({ kind, message, reason, tool, input }: InputRequest): string {
  if (message !== undefined) return message;
  const call = tool === undefined ? '' : `${tool}(${input === undefined ? '' : JSON.stringify(input)})`;
  if (kind === 'client-tool') return `The agent needs the result of ${call || 'a tool'}.`;
  if (kind === 'approval') return `Approve ${call || reason || 'the next step'}?`;
  return reason ?? 'The agent needs input.';
}

import { AbstractAgent, type BaseEvent } from '@ag-ui/client';
import type { Message, RunAgentInput } from '@ag-ui/core';
import {
  applyAnswer,
  foldEvents,
  type AgentEvent,
  type Answer,
  type CanonicalMessage,
  type RunInput,
} from '@intertie/core';
import type { ToolAnswer } from '@intertie/core/store';
import { from, type Observable } from 'rxjs';
import { agUiSource } from '../src/client/ag-ui-source.ts';
import { runControl } from '../../core/test/run-control.ts';
import { runInput } from '../../core/test/run-input.ts';

/** Agent that sends one list of events per run, and records what it receives. */
class ScriptedAgent extends AbstractAgent {
  readonly runs: object[][];
  readonly inputs: RunAgentInput[];

  constructor(runs: readonly object[][], inputs: RunAgentInput[] = []) {
    super({ threadId: 'thread-1' });
    this.runs = [...runs];
    this.inputs = inputs;
  }

  override clone(): this {
    return this;
  }

  run(input: RunAgentInput): Observable<BaseEvent> {
    this.inputs.push(structuredClone(input));
    const { threadId, runId } = input;
    const events = this.runs.shift() ?? [];
    const isOver = events.some((event) => 'type' in event && event.type === 'RUN_FINISHED');
    return from([
      { type: 'RUN_STARTED', threadId, runId },
      ...events,
      ...(isOver ? [] : [{ type: 'RUN_FINISHED', threadId, runId }]),
    ] as unknown as BaseEvent[]);
  }
}

/** Message of the user, or answers to the last run. */
export type Turn = { id: string; text: string } | { answers: Array<Answer | ToolAnswer> };

export type Conversation = { inputs: RunAgentInput[]; messages: CanonicalMessage[]; events: AgentEvent[][] };

/** Sends the turns to a scripted agent through `agUiSource`, with a history of stored messages. */
export async function converse(runs: readonly object[][], turns: readonly Turn[]): Promise<Conversation> {
  const agent = new ScriptedAgent(runs);
  const source = agUiSource({ agent });
  const messages: CanonicalMessage[] = [];
  const all: AgentEvent[][] = [];
  for (const [index, turn] of turns.entries()) {
    const last = messages.at(-1);
    if ('text' in turn) messages.push(toUserMessage(turn));
    const answered = 'answers' in turn ? messages.pop() : undefined;
    const run: RunInput = runInput({
      runId: `run-${index}`,
      threadId: 'thread-1',
      messageId: answered?.id ?? `answer-${index}`,
      history: [...messages],
      // Like a store, which applies the answers before the run starts.
      ...('answers' in turn &&
        answered && { resumes: `run-${index - 1}`, message: turn.answers.reduce(applyAnswer, last!.content) }),
    });
    const events = await readAll(source.run(run, runControl()));
    all.push(events);
    messages.push(JSON.parse(JSON.stringify(foldEvents(events))) as CanonicalMessage);
  }
  return { inputs: agent.inputs, messages, events: all };
}

/** Sends the turns to a scripted agent through the official client. Returns the messages that it sends in each run. */
export async function sendOfficially(runs: readonly object[][], turns: readonly Turn[]): Promise<Message[][]> {
  const agent = new ScriptedAgent(runs);
  for (const [index, turn] of turns.entries()) {
    if ('text' in turn) agent.addMessage({ id: turn.id, role: 'user', content: turn.text });
    else for (const answer of turn.answers) addResult(agent, answer);
    await agent.runAgent({ runId: `run-${index}` });
  }
  return agent.inputs.map(({ messages }) => messages);
}

/** Adds the result of a client tool under the id that we use, since clients choose it. */
function addResult(agent: AbstractAgent, answer: Answer | ToolAnswer): void {
  if ('questionId' in answer || answer.status !== 'ok') return;
  const { toolCallId } = answer;
  agent.addMessage({ id: `${toolCallId}:result`, role: 'tool', toolCallId, content: answer.output as string });
}

function toUserMessage({ id, text }: { id: string; text: string }): CanonicalMessage {
  const content = { format: 2 as const, parts: [{ type: 'text' as const, text }] };
  return { id, threadId: 'thread-1', role: 'user', type: 'text', content, createdAt: new Date(0) };
}

async function readAll(stream: ReadableStream<AgentEvent>): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

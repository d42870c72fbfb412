import type { EventOf, MessagePart, OnLoss } from '@intertie/core';
import type { AGUIEncoderOptions } from './ag-ui-encoder-options.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIFeatures } from '../shared/ag-ui-version.ts';
import { AGUIActivities } from './encode-activities.ts';
import { AGUIAgents } from './encode-agents.ts';
import { AGUIQuestions } from './encode-questions.ts';
import { AGUITools, type Form } from './encode-tools.ts';
import { AGUIWords } from './encode-text-parts.ts';
import { MessageGroups } from './message-groups.ts';
import { Withheld } from './withheld-events.ts';

type Write = (event: AGUIEvent) => void;

/** What a run consists of, each kind with who writes it, and what concerns all of them. */
export class AGUIParts {
  readonly groups: MessageGroups = new MessageGroups();
  readonly activities: AGUIActivities = new AGUIActivities();
  readonly agents: AGUIAgents;
  readonly questions: AGUIQuestions;
  readonly tools: AGUITools;
  readonly words: AGUIWords;
  readonly withheld: Withheld;
  #form: Form;
  #sendInternal: boolean;

  constructor(options: AGUIEncoderOptions, features: AGUIFeatures, onLoss: OnLoss) {
    const { stepNames = 'turns', preliminary = 'withhold', form = 'triads' } = options;
    const { sendReasoning = true, sendInternal = false } = options;
    const { v1: contentParts, subagents } = features;
    const reopenedCalls = options.protocolVersion === undefined ? 'unknown' : features.reopenedCalls;
    const { groups } = this;
    this.#form = form;
    this.#sendInternal = sendInternal;
    this.agents = new AGUIAgents(subagents, stepNames, onLoss);
    this.questions = new AGUIQuestions(this.agents);
    this.tools = new AGUITools({ contentParts, reopenedCalls, preliminary, onLoss }, groups);
    this.withheld = new Withheld(sendInternal, onLoss);
    const { agents, withheld } = this;
    const notesText = options.result === 'text';
    this.words = new AGUIWords({ sendReasoning, notesText, groups, agents, withheld, onLoss });
  }

  /** How a part is told that begins now: chunks are cut off by what stands between them. */
  get form(): Form {
    return this.#form === 'chunks' && !this.words.isStreaming && !this.tools.isStreaming ? 'chunks' : 'triads';
  }

  /** A part of the message that the run goes on with; the client has it. */
  learn(part: MessagePart): void {
    const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
    if (part.internal && !this.#sendInternal) {
      if (id !== undefined) this.withheld.learn(id);
      return;
    }
    if (part.type === 'tool-invocation') {
      if (!this.tools.has(part.toolCallId)) this.tools.learn(part, this.agents.owner(part.agentId));
      if (part.approval && !part.approval.answer) this.questions.ask(part.approval);
    } else if (part.type === 'question') {
      if (!part.answer) this.questions.ask(part);
    } else if (part.type === 'data') this.activities.learn(part);
    else if (part.id !== undefined) this.words.learn(part.id, part.providerMetadata);
  }

  /** What is open, told again to a client that joins now. */
  reopen(write: Write): void {
    this.agents.reopen(write);
    this.words.reopen(write);
    this.tools.reopen(write);
  }

  /** What a run leaves open is closed before its end. Gives the calls that the client is to answer. */
  close(event: EventOf<'run-end'>, write: Write): string[] {
    this.words.closeAll(write);
    this.tools.closeInputs(write);
    const left = this.tools.settle(this.questions.calls(event), write);
    this.agents.closeAll(write);
    return left;
  }
}

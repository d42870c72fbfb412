import type { EventOf, MessagePart, OnLoss } from '@intertie/core';
import type { AGUIEncoderOptions } from './ag-ui-encoder-options.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import type { AGUIFeatures } from '../shared/ag-ui-version.ts';
import { ActivityEncoder } from './encode-activities.ts';
import { AgentEncoder } from './encode-agents.ts';
import { OpenQuestions } from './open-questions.ts';
import { ToolEncoder, type Form } from './encode-tools.ts';
import { TextPartEncoder } from './encode-text-parts.ts';
import { MessageGroups } from './message-groups.ts';
import { WithheldParts } from './withheld-parts.ts';

type Write = (event: AGUIEvent) => void;

/** The encoders of one run, by kind of part, and the state that they share. */
export class PartEncoders {
  readonly groups: MessageGroups = new MessageGroups();
  readonly activities: ActivityEncoder = new ActivityEncoder();
  readonly agents: AgentEncoder;
  readonly questions: OpenQuestions;
  readonly tools: ToolEncoder;
  readonly texts: TextPartEncoder;
  readonly withheld: WithheldParts;
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
    this.agents = new AgentEncoder(subagents, stepNames, onLoss);
    this.questions = new OpenQuestions(this.agents);
    this.tools = new ToolEncoder({ contentParts, reopenedCalls, preliminary, onLoss }, groups);
    this.withheld = new WithheldParts(sendInternal, onLoss);
    const { agents, withheld } = this;
    const recordsLastText = options.result === 'text';
    this.texts = new TextPartEncoder({ sendReasoning, recordsLastText, groups, agents, withheld, onLoss });
  }

  /** Form of a part that starts now. Triads while another part is open, because its events would end a chunk. */
  get form(): Form {
    return this.#form === 'chunks' && !this.texts.isStreaming && !this.tools.isStreaming ? 'chunks' : 'triads';
  }

  /** Registers a part of the message that the run continues; the client has it. */
  register(part: MessagePart): void {
    const id = part.type === 'tool-invocation' ? part.toolCallId : part.id;
    if (part.internal && !this.#sendInternal) {
      if (id !== undefined) this.withheld.register(id);
      return;
    }
    if (part.type === 'tool-invocation') {
      if (!this.tools.has(part.toolCallId)) this.tools.register(part, this.agents.owner(part.agentId));
      if (part.approval && !part.approval.answer) this.questions.ask(part.approval);
    } else if (part.type === 'question') {
      if (!part.answer) this.questions.ask(part);
    } else if (part.type === 'data') this.activities.register(part);
    else if (part.id !== undefined) this.texts.register(part.id, part.providerMetadata);
  }

  /** Opens everything that is open again, for a client that joins. */
  reopen(write: Write): void {
    this.agents.reopen(write);
    this.texts.reopen(write);
    this.tools.reopen(write);
  }

  /** Closes everything that the run left open. Returns the calls that the client must answer. */
  close(event: EventOf<'run-end'>, write: Write): string[] {
    this.texts.closeAll(write);
    this.tools.closeInputs(write);
    const unanswered = this.tools.settle(this.questions.calls(event), write);
    this.agents.closeAll(write);
    return unanswered;
  }
}

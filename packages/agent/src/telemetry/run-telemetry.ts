import type { AgentEvent, Json, RunRecord, Usage } from '@intertie/core';
import type { Executor } from '@intertie/core/internal';
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';

/** The trace in which somebody asks for a run, as it travels between processes. */
export function activeTrace(): { [header: string]: string } {
  const carrier: { [header: string]: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/** A W3C trace context that was kept with a run. What is none is passed over. */
function parentOf(carrier: Json | undefined): Context {
  return propagation.extract(context.active(), typeof carrier === 'object' && carrier !== null ? carrier : {});
}

/** A call that nobody has run yet. */
type Call = { toolName: string; executor?: Executor; agentId?: string; at?: number };

/**
 * Spans of a run, its agents, its model turns and its tools, by the GenAI conventions. They say who worked, how long and at
 * what cost; what was said is nobody's business. Without an OpenTelemetry SDK they are nothing.
 */
export class RunTelemetry {
  /** In it, what the source does is a part of the run. */
  readonly context: Context;
  #tracer: Tracer = trace.getTracer('@intertie/agent');
  #run: Span;
  #agents = new Map<string, { span: Span; context: Context }>();
  #steps = new Map<string, Span>();
  #tools = new Map<string, Span>();
  #calls = new Map<string, Call>();

  constructor({ runId, threadId, messageId, agent }: RunRecord, carrier: Json | undefined) {
    const parent = parentOf(carrier);
    this.#run = this.#tracer.startSpan(
      `invoke_agent ${agent}`,
      {
        kind: SpanKind.INTERNAL,
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': agent,
          'gen_ai.conversation.id': threadId,
          'intertie.run.id': runId,
          'intertie.message.id': messageId,
        },
      },
      parent,
    );
    this.context = trace.setSpan(parent, this.#run);
  }

  see(event: AgentEvent): void {
    switch (event.type) {
      case 'run-start':
        if (event.resumes !== undefined) this.#run.setAttribute('intertie.run.resumes', event.resumes);
        return;
      case 'agent-start':
        return this.#agentStart(event);
      case 'agent-end': {
        const agent = this.#agents.get(event.agentId);
        this.#agents.delete(event.agentId);
        return agent && finish(agent.span, event, usageOf(event.usage));
      }
      case 'step-start':
        this.#steps.set(
          event.stepId,
          this.#start('chat', { 'gen_ai.operation.name': 'chat' }, event.agentId, event.at),
        );
        return;
      case 'step-end':
        return this.#stepEnd(event);
      case 'tool-call':
        if (!event.invalid) this.#calls.set(event.toolCallId, event);
        return;
      case 'message-snapshot':
        for (const part of event.content.parts) {
          if (part.type === 'tool-invocation' && part.state === 'call') this.#calls.set(part.toolCallId, part);
        }
        return;
      case 'tool-result':
        return this.#toolResult(event);
      case 'run-end':
        return this.#runEnd(event);
    }
  }

  /** Another process goes on with the run, or nobody does: what is known here is over. */
  leave(): void {
    this.#run.setAttribute('intertie.run.outcome', 'left');
    this.#endAll();
  }

  #agentStart({ agentId, name, parentAgentId, at }: Extract<AgentEvent, { type: 'agent-start' }>): void {
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': name,
      'gen_ai.agent.id': agentId,
    };
    const span = this.#start(`invoke_agent ${name}`, attributes, parentAgentId, at);
    this.#agents.set(agentId, { span, context: trace.setSpan(this.context, span) });
  }

  /** A tool runs from now on: its call may be older, and have waited for somebody. */
  begin(toolCallId: string, at: number = Date.now()): void {
    const call = this.#calls.get(toolCallId);
    if (!call || call.executor === 'client') return;
    this.#calls.delete(toolCallId);
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': call.toolName,
      'gen_ai.tool.call.id': toolCallId,
      'gen_ai.tool.type': call.executor === 'provider' ? 'extension' : 'function',
    };
    this.#tools.set(toolCallId, this.#start(`execute_tool ${call.toolName}`, attributes, call.agentId, at));
  }

  #toolResult(event: Extract<AgentEvent, { type: 'tool-result' }>): void {
    if (event.status === 'denied' || (event.status === 'ok' && event.preliminary)) return;
    // Whoever runs its tools elsewhere only says when they were called.
    this.begin(event.toolCallId, this.#calls.get(event.toolCallId)?.at);
    const tool = this.#tools.get(event.toolCallId);
    this.#tools.delete(event.toolCallId);
    if (event.status === 'error' && tool) fail(tool, event.error);
    tool?.end(event.at);
  }

  #stepEnd({ stepId, finishReason, usage, response, at }: Extract<AgentEvent, { type: 'step-end' }>): void {
    const step = this.#steps.get(stepId);
    if (!step) return;
    this.#steps.delete(stepId);
    const model = response?.modelId ?? usage?.[0]?.model;
    if (model !== undefined) step.updateName(`chat ${model}`);
    step.setAttributes({
      ...usageOf(usage),
      ...(model !== undefined && { 'gen_ai.response.model': model }),
      ...(response?.id !== undefined && { 'gen_ai.response.id': response.id }),
      ...(finishReason !== undefined && { 'gen_ai.response.finish_reasons': [finishReason] }),
    });
    step.end(at);
  }

  #runEnd(event: Extract<AgentEvent, { type: 'run-end' }>): void {
    const { outcome, finishReason, usage } = event;
    this.#run.setAttributes({
      ...usageOf(usage),
      'intertie.run.outcome': outcome,
      ...(finishReason !== undefined && { 'gen_ai.response.finish_reasons': [finishReason] }),
    });
    if (event.outcome === 'error') fail(this.#run, event.error);
    this.#endAll();
  }

  #endAll(): void {
    for (const span of this.#tools.values()) span.end();
    for (const span of this.#steps.values()) span.end();
    for (const { span } of this.#agents.values()) span.end();
    this.#run.end();
  }

  #start(name: string, attributes: Attributes, agentId: string | undefined, at: number | undefined): Span {
    const inside = (agentId === undefined ? undefined : this.#agents.get(agentId)?.context) ?? this.context;
    return this.#tracer.startSpan(name, { attributes, ...(at !== undefined && { startTime: at }) }, inside);
  }
}

function finish(span: Span, event: Extract<AgentEvent, { type: 'agent-end' }>, attributes: Attributes): void {
  span.setAttributes({ ...attributes, 'intertie.run.outcome': event.outcome });
  if (event.outcome === 'error') fail(span, event.error);
  span.end(event.at);
}

function fail(span: Span, { message, code }: { message: string; code?: string }): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message });
  span.setAttribute('error.type', code ?? '_OTHER');
}

/** What several models have consumed, together. What none has reported is left out. */
function usageOf(usage: readonly Usage[] | undefined): Attributes {
  const attributes: Attributes = {};
  const add = (name: string, value: number | undefined): void => {
    if (value !== undefined) attributes[name] = Number(attributes[name] ?? 0) + value;
  };
  for (const { inputTokens, outputTokens, provider } of usage ?? []) {
    add('gen_ai.usage.input_tokens', inputTokens);
    add('gen_ai.usage.output_tokens', outputTokens);
    if (provider !== undefined) attributes['gen_ai.provider.name'] = provider;
  }
  return attributes;
}

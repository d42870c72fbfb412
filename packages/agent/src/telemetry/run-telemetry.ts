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

/** Returns the active trace context as W3C headers, to be stored with a run. */
export function captureTrace(): { [header: string]: string } {
  const carrier: { [header: string]: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier;
}

/** Reads a stored W3C trace context. Invalid values are ignored. */
function extractParent(carrier: Json | undefined): Context {
  return propagation.extract(context.active(), typeof carrier === 'object' && carrier !== null ? carrier : {});
}

/** A tool call that was not executed yet. */
type Call = { toolName: string; executor?: Executor; agentId?: string; at?: number };

/**
 * Creates spans for a run, its agents, steps and tools, by the OpenTelemetry GenAI conventions. Spans have names, durations
 * and token usage, never content. Without an OpenTelemetry SDK they are no-ops.
 */
export class RunTelemetry {
  /** Context of the run's span, in which the source runs. */
  readonly context: Context;
  #tracer: Tracer = trace.getTracer('@intertie/agent');
  #run: Span;
  #agents = new Map<string, { span: Span; context: Context }>();
  #steps = new Map<string, Span>();
  #tools = new Map<string, Span>();
  #calls = new Map<string, Call>();

  constructor({ runId, threadId, messageId, agent }: RunRecord, carrier: Json | undefined) {
    const parent = extractParent(carrier);
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

  /** Records that this process continues the run of another one. */
  recordTakeover(epoch: number): void {
    this.#run.addEvent('intertie.takeover', { 'intertie.epoch': epoch });
  }

  record(event: AgentEvent): void {
    switch (event.type) {
      case 'run-start':
        if (event.resumes !== undefined) this.#run.setAttribute('intertie.run.resumes', event.resumes);
        return;
      case 'agent-start':
        return this.#agentStart(event);
      case 'agent-end': {
        const agent = this.#agents.get(event.agentId);
        this.#agents.delete(event.agentId);
        return agent && endAgent(agent.span, event, toUsageAttributes(event.usage));
      }
      case 'step-start':
        this.#steps.set(
          event.stepId,
          this.#startSpan('chat', { 'gen_ai.operation.name': 'chat' }, event.agentId, event.at),
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

  /** Ends all spans of a run that this process no longer owns. */
  abandon(): void {
    this.#run.setAttribute('intertie.run.outcome', 'left');
    this.#endAll();
  }

  #agentStart({ agentId, name, parentAgentId, at }: Extract<AgentEvent, { type: 'agent-start' }>): void {
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': name,
      'gen_ai.agent.id': agentId,
    };
    const span = this.#startSpan(`invoke_agent ${name}`, attributes, parentAgentId, at);
    this.#agents.set(agentId, { span, context: trace.setSpan(this.context, span) });
  }

  /** Starts the span of a tool when it executes: the call may have waited for approval. */
  startTool(toolCallId: string, at: number = Date.now()): void {
    const call = this.#calls.get(toolCallId);
    if (!call || call.executor === 'client') return;
    this.#calls.delete(toolCallId);
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': call.toolName,
      'gen_ai.tool.call.id': toolCallId,
      'gen_ai.tool.type': call.executor === 'provider' ? 'extension' : 'function',
    };
    this.#tools.set(toolCallId, this.#startSpan(`execute_tool ${call.toolName}`, attributes, call.agentId, at));
  }

  #toolResult(event: Extract<AgentEvent, { type: 'tool-result' }>): void {
    if (event.status === 'denied' || (event.status === 'ok' && event.preliminary)) return;
    // Runtimes that execute tools remotely report only the time of the call.
    this.startTool(event.toolCallId, this.#calls.get(event.toolCallId)?.at);
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
      ...toUsageAttributes(usage),
      ...(model !== undefined && { 'gen_ai.response.model': model }),
      ...(response?.id !== undefined && { 'gen_ai.response.id': response.id }),
      ...(finishReason !== undefined && { 'gen_ai.response.finish_reasons': [finishReason] }),
    });
    step.end(at);
  }

  #runEnd(event: Extract<AgentEvent, { type: 'run-end' }>): void {
    const { outcome, finishReason, usage } = event;
    this.#run.setAttributes({
      ...toUsageAttributes(usage),
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

  #startSpan(name: string, attributes: Attributes, agentId: string | undefined, at: number | undefined): Span {
    const inside = (agentId === undefined ? undefined : this.#agents.get(agentId)?.context) ?? this.context;
    return this.#tracer.startSpan(name, { attributes, ...(at !== undefined && { startTime: at }) }, inside);
  }
}

function endAgent(span: Span, event: Extract<AgentEvent, { type: 'agent-end' }>, attributes: Attributes): void {
  span.setAttributes({ ...attributes, 'intertie.run.outcome': event.outcome });
  if (event.outcome === 'error') fail(span, event.error);
  span.end(event.at);
}

function fail(span: Span, { message, code }: { message: string; code?: string }): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message });
  span.setAttribute('error.type', code ?? '_OTHER');
}

/** Sums the usage of all models. Counters that no model reported are omitted. */
function toUsageAttributes(usage: readonly Usage[] | undefined): Attributes {
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

import { createInMemoryStore, type AgentEvent } from '@intertie/core';
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { call, finish, scriptedModel, text } from '../../../ai-sdk/test/scripted-model.ts';
import { recordSpans, type RecordedSpan } from '../../test/recording-tracer.ts';
import { Agent } from '../agent/agent.ts';
import { createRunHost } from '../execution/run-host.ts';
import { RunTelemetry } from './run-telemetry.ts';

describe('telemetry', () => {
  let spans: RecordedSpan[];
  beforeAll(() => {
    spans = recordSpans();
    const storage = new AsyncLocalStorage<ReturnType<typeof context.active>>();
    context.setGlobalContextManager({
      active: () => storage.getStore() ?? ROOT_CONTEXT,
      with: (active, work, self, ...args) => storage.run(active, () => work.call(self as never, ...args)),
      bind: (_, target) => target,
      enable() {
        return this;
      },
      disable() {
        return this;
      },
    });
  });
  const named = (name: string): RecordedSpan => {
    const span = spans.findLast((each) => each.name === name);
    if (!span) throw new Error(`No span ${name} among ${spans.map((each) => each.name).join(', ')}.`);
    return span;
  };

  it('traces a run, its steps and its tools in the trace of the request, including a continuation in another process', async () => {
    const store = createInMemoryStore();
    const model = scriptedModel([call('c1', 'pay'), finish('tool-calls')], [...text('0', 'Done'), finish()]);
    let seen: string | undefined;
    const pay = {
      inputSchema: z.object({}),
      needsApproval: true,
      execute: async () => {
        seen = trace.getSpanContext(context.active())?.traceId;
        return 'ok';
      },
    };
    const agentIn = (process: string): Agent =>
      new Agent({ name: 'payer', model, store, host: createRunHost(store, { process }), tools: { pay } });
    const [one, two] = [agentIn('one'), agentIn('two')];
    const asked = trace.getTracer('test').startSpan('POST /chat');
    const run = await context.with(trace.setSpan(ROOT_CONTEXT, asked), () =>
      one.stream({ threadId: 't', message: 'Pay' }).then((started) => started),
    );
    const message = await run.message;
    const [part] = message.content.parts;
    const questionId = part?.type === 'tool-invocation' ? part.approval!.questionId : '';
    const first = named('invoke_agent payer');
    expect(first).toMatchObject({
      parent: asked.spanContext().spanId,
      attributes: { 'gen_ai.conversation.id': 't', 'intertie.run.id': run.runId, 'intertie.run.outcome': 'paused' },
    });
    const { run: next } = await two.answer(run.runId, [{ questionId, approved: true }]);
    await (await two.attach(next!.runId))!.message;
    const second = named('invoke_agent payer');
    expect(second).toMatchObject({
      traceId: first.traceId,
      attributes: {
        'intertie.run.resumes': run.runId,
        'intertie.run.outcome': 'complete',
        'gen_ai.usage.input_tokens': 10,
      },
    });
    expect(named('chat scripted-1')).toMatchObject({
      parent: second.spanId,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': ['stop'] },
    });
    expect(spans.filter(({ name }) => name === 'execute_tool pay')).toMatchObject([{ parent: second.spanId }]);
    expect(seen).toBe(first.traceId);
    asked.end();
    expect(spans.every(({ isEnded }) => isEnded)).toBe(true);
    await Promise.all([one.close(), two.close()]);
  });

  it('nests spans of agents and their tools, and marks failures', () => {
    const record = { runId: 'r', threadId: 't', messageId: 'm', agent: 'swarm' } as never;
    const telemetry = new RunTelemetry(record, undefined);
    const events: AgentEvent[] = [
      { type: 'agent-start', agentId: 'a', name: 'lead', kind: 'agent' },
      { type: 'agent-start', agentId: 'b', name: 'writer', kind: 'agent', parentAgentId: 'a' },
      { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: {}, agentId: 'b' },
      { type: 'tool-result', toolCallId: 'c', status: 'error', error: { message: 'No', code: 'blind' } },
      { type: 'agent-end', agentId: 'b', outcome: 'complete' },
      { type: 'run-end', outcome: 'error', error: { message: 'Lost' } },
    ];
    for (const event of events) telemetry.record(event);
    expect(named('invoke_agent writer').parent).toBe(named('invoke_agent lead').spanId);
    expect(named('execute_tool look')).toMatchObject({
      parent: named('invoke_agent writer').spanId,
      failed: 'No',
      attributes: { 'error.type': 'blind', 'gen_ai.tool.call.id': 'c' },
    });
    expect(named('invoke_agent swarm')).toMatchObject({ failed: 'Lost', attributes: { 'error.type': '_OTHER' } });
    expect(spans.every(({ isEnded }) => isEnded)).toBe(true);
  });
});

import type { AgentEvent, EventOf } from '../event/event.ts';
import { omit } from '../json/fields.ts';
import type {
  AgentEntry,
  CanonicalMessage,
  MessageContent,
  MessagePart,
  RunEntry,
  StepEntry,
  ToolPart,
} from '../event/message.ts';
import type { OnLoss } from '../json/loss.ts';
import type { Outcome } from '../event/outcome.ts';
import { isSettled } from '../codec/tool-part.ts';

/**
 * Converts a message to events: the inverse of the fold, `fold(unfold(m))` equals `m`. Replays a stored message in every
 * protocol. Content of earlier runs that has no event is sent as a snapshot without parts. The `run-end` reflects the present: a
 * partly answered pause waits only for the open decisions, an abandoned one is aborted. Reports what no event can carry.
 */
export function unfold(message: CanonicalMessage, onLoss: OnLoss = () => undefined): AgentEvent[] {
  if (message.role !== 'assistant') {
    throw new TypeError(
      `Message ${message.id} has the role "${message.role}"; only assistant messages can be unfolded. ` +
        'Use unfoldContent for the parts of any message.',
    );
  }
  const { runs = [], providerMetadata } = message.content;
  const streaming = message.status === 'streaming';
  const before = streaming ? runs : runs.slice(0, -1);
  const run = getCurrentEnd(message, (streaming ? undefined : runs.at(-1)) ?? inferRun(message));
  const { runId } = run;
  const events: AgentEvent[] = [
    {
      type: 'run-start',
      runId,
      threadId: message.threadId,
      messageId: message.id,
      ...(message.parentId !== undefined && { parentMessageId: message.parentId }),
      ...(before.length > 0 && { resumes: before.at(-1)!.runId }),
      at: message.createdAt.getTime(),
    },
  ];
  const snapshot: MessageContent = {
    format: 2,
    parts: [],
    ...(message.content.content !== undefined && { content: message.content.content }),
    ...(streaming && providerMetadata && { providerMetadata }),
    ...(before.length > 0 && { runs: before }),
  };
  if (Object.keys(snapshot).length > 2) events.push({ type: 'message-snapshot', content: snapshot });
  if (message.state !== undefined) events.push({ type: 'state-snapshot', state: message.state });
  for (const event of unfoldContent(message.content, onLoss)) events.push(event);
  if (streaming) return events;
  events.push({
    type: 'run-end',
    ...omit(run, 'runId', 'parts'),
    ...(message.sourceState !== undefined && { resume: message.sourceState }),
    ...(providerMetadata && { providerMetadata }),
  });
  return events;
}

/** Adjusts the end of the last run to the answers or the cancellation since. */
function getCurrentEnd({ status, content }: CanonicalMessage, run: RunEntry): RunEntry {
  if (run.outcome !== 'paused') return run;
  const { outcome: _, waitingFor, ...rest } = run;
  if (status === 'aborted') return { ...rest, outcome: 'aborted' };
  const open = new Set<string>();
  for (const part of content.parts) {
    if (part.type === 'tool-invocation' && part.state === 'call') open.add(`tool ${part.toolCallId}`);
    const asked = part.type === 'tool-invocation' ? part.approval : part.type === 'question' ? part : undefined;
    if (asked && !asked.answer) open.add(`question ${asked.questionId}`);
  }
  const stillOpen = waitingFor.filter((waiting) => {
    if (waiting.type === 'message') return true;
    return open.has(waiting.type === 'tool' ? `tool ${waiting.toolCallId}` : `question ${waiting.questionId}`);
  });
  // Everything is answered, but the continuation has not started.
  return { ...rest, outcome: 'paused', waitingFor: stillOpen.length > 0 ? stillOpen : [{ type: 'message' }] };
}

/** Derives the end of an imported message, which has no recorded run, from its status. */
function inferRun({ id, runId = id, status }: CanonicalMessage): RunEntry {
  if (status === 'paused') return { runId, outcome: 'paused', waitingFor: [{ type: 'message' }] };
  if (status === 'error') return { runId, outcome: 'error', error: { message: 'The run failed.' } };
  return { runId, outcome: status === 'aborted' ? 'aborted' : 'complete' };
}

/**
 * Converts content to events without the run around it: agents, steps and parts, opened and closed in order. A part without an
 * id gets one from its index.
 */
export function unfoldContent(content: MessageContent, onLoss: OnLoss = () => undefined): AgentEvent[] {
  const events: AgentEvent[] = [];
  if (content.metadata) events.push({ type: 'metadata', metadata: content.metadata });
  const agents = new Map(Object.entries(content.agents ?? {}));
  const all = new Map(Object.entries(content.steps ?? {}));
  const steps = new Map(all);
  const lastOfStep = new Map<string, number>();
  for (const [index, part] of content.parts.entries())
    if (part.stepId !== undefined) lastOfStep.set(part.stepId, index);

  const startAgent = (agentId: string | undefined): void => {
    const starts: AgentEvent[] = [];
    for (let id = agentId, entry = agents.get(id ?? ''); id !== undefined && entry; entry = agents.get(id ?? '')) {
      agents.delete(id);
      starts.push(toAgentStart(id, entry));
      id = entry.parentAgentId;
    }
    for (const event of starts.toReversed()) events.push(event);
  };
  const startStep = (stepId: string | undefined): void => {
    const entry = stepId === undefined ? undefined : steps.get(stepId);
    if (stepId === undefined || !entry) return;
    steps.delete(stepId);
    startAgent(entry.agentId);
    events.push(toStepStart(stepId, entry));
  };

  for (const [index, part] of content.parts.entries()) {
    startAgent(part.agentId);
    startStep(part.stepId);
    pushPartEvents(part, `part-${index}`, events, onLoss);
    const step = part.stepId === undefined ? undefined : all.get(part.stepId);
    if (part.stepId !== undefined && step && lastOfStep.get(part.stepId) === index)
      events.push(toStepEnd(part.stepId, step));
  }
  for (const [stepId, entry] of steps) {
    startStep(stepId);
    events.push(toStepEnd(stepId, entry));
  }
  for (const agentId of agents.keys()) startAgent(agentId);
  for (const [agentId, entry] of Object.entries(content.agents ?? {})) {
    const end = toAgentEnd(agentId, entry);
    if (end) events.push(end);
  }
  return events;
}

function toAgentStart(agentId: string, entry: AgentEntry): EventOf<'agent-start'> {
  const fields = omit(entry, 'outcome', 'error', 'result', 'usage');
  return { type: 'agent-start', agentId, ...fields };
}

function toAgentEnd(agentId: string, entry: AgentEntry): EventOf<'agent-end'> | undefined {
  if (entry.outcome === undefined) return undefined;
  const { result, usage } = entry;
  const outcome: Outcome =
    entry.outcome === 'paused'
      ? { outcome: 'paused', waitingFor: [] }
      : entry.outcome === 'error'
        ? { outcome: 'error', error: entry.error ?? { message: 'The agent failed.' } }
        : { outcome: entry.outcome };
  return { type: 'agent-end', agentId, ...(result !== undefined && { result }), ...(usage && { usage }), ...outcome };
}

function toStepStart(stepId: string, { agentId, name }: StepEntry): EventOf<'step-start'> {
  return { type: 'step-start', stepId, ...(agentId !== undefined && { agentId }), ...(name !== undefined && { name }) };
}

function toStepEnd(stepId: string, entry: StepEntry): EventOf<'step-end'> {
  const ended = omit(entry, 'agentId', 'name');
  return { type: 'step-end', stepId, ...ended };
}

function pushPartEvents(part: MessagePart, fallbackId: string, events: AgentEvent[], onLoss: OnLoss): void {
  switch (part.type) {
    case 'text': {
      const { type: _, text, citations, id = fallbackId, ...fields } = part;
      events.push({ type: 'text-start', id, ...fields });
      if (text !== '') events.push({ type: 'text-delta', id, delta: text });
      events.push({ type: 'text-end', id, ...(citations && { citations }) });
      return;
    }
    case 'reasoning': {
      const { type: _, reasoning, details, id = fallbackId, ...fields } = part;
      if (details !== undefined) {
        onLoss({
          kind: 'unsupported',
          what: 'reasoning.details',
          why: 'No event can carry the details of imported reasoning.',
          id,
        });
      }
      events.push({ type: 'reasoning-start', id, ...fields });
      if (reasoning !== '') events.push({ type: 'reasoning-delta', id, delta: reasoning });
      events.push({ type: 'reasoning-end', id });
      return;
    }
    case 'tool-invocation':
      return pushToolEvents(part, events);
    case 'question': {
      const { answer, ...question } = omit(part, 'id', 'to', 'internal', 'stepId');
      events.push(question);
      if (answer) events.push({ type: 'answer', ...answer });
      return;
    }
    case 'file':
    case 'interjection':
      events.push({ ...part, id: part.id ?? fallbackId });
      return;
    case 'source':
      events.push({ sourceType: part.url === undefined ? 'document' : 'url', ...part, id: part.id ?? fallbackId });
      return;
    case 'data':
      events.push({ ...part, name: part.name ?? 'data', id: part.id ?? fallbackId });
      return;
    default:
      // Part of a newer version: passed through for consumers that know it.
      events.push({ type: 'raw', dialect: 'canonical', value: part });
  }
}

function pushToolEvents(part: ToolPart, events: AgentEvent[]): void {
  const {
    state,
    args,
    argsText,
    result,
    preliminary,
    invalid,
    error,
    approval,
    resultContent,
    resultMetadata,
    ...call
  } = omit(part, 'type', 'id');
  const { toolCallId } = call;
  if (state === 'partial-call') {
    events.push({ type: 'tool-input-start', ...call });
    if (argsText) events.push({ type: 'tool-input-delta', toolCallId, delta: argsText });
    events.push({ type: 'tool-input-end', toolCallId });
  } else {
    const fault = invalid && (error ?? { message: 'The call is invalid.' });
    events.push({ type: 'tool-call', input: args ?? null, ...(fault && { invalid: fault }), ...call });
  }
  if (approval) {
    const { answer, ...question } = approval;
    events.push({ type: 'question', ...question });
    if (answer) events.push({ type: 'answer', ...answer });
  }
  const metadata = resultMetadata && { providerMetadata: resultMetadata };
  if (state === 'result' || (preliminary && !isSettled(state))) {
    events.push({
      type: 'tool-result',
      toolCallId,
      status: 'ok',
      output: result ?? null,
      ...(resultContent && { content: true }),
      ...(preliminary && { preliminary: true }),
      ...metadata,
    });
  } else if (state === 'error') {
    events.push({
      type: 'tool-result',
      toolCallId,
      status: 'error',
      error: error ?? { message: 'The tool failed.' },
      ...metadata,
    });
  } else if (state === 'denied') {
    events.push({
      type: 'tool-result',
      toolCallId,
      status: 'denied',
      ...(error && { reason: error.message }),
      ...metadata,
    });
  }
}

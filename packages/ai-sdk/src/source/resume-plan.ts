import type { AgentEvent, CanonicalMessage, EventOf, MessageContent, MessagePart, ResumePoint } from '@intertie/core';
import { createClosingEvents, cutOffCode, isCutOff, type ToolPart } from '@intertie/core/internal';
import type { ToolSet } from 'ai';
import { isApproved } from '../shared/ai-sdk-approval.ts';
import { defined, isFields, omit } from '../shared/read-fields.ts';
import { findPendingParts } from './pending-parts.ts';

/** Step of a resumed run that counts: it ended, or it was under way and is kept because it has calls. */
export type LoggedStep = { stepId: string; isComplete: boolean; end: Partial<EventOf<'step-end'>> };

/** How a model's run continues after its last committed event. */
export interface ResumePlan {
  /** Events that close what the process left open. A step without calls of our tools is discarded. */
  closing: AgentEvent[];
  /** Message of the run, without the discarded step. */
  content: MessageContent;
  /** Ids of reasoning that was cut off. It has no signature, so it is not sent to the model. */
  cutReasoning: ReadonlySet<string>;
  /** Steps of the run, in order. */
  steps: LoggedStep[];
  /** Calls that need a result before the model is called. */
  calls: UnfinishedCalls;
}

export type UnfinishedCalls = {
  /** Complete calls of tools that run in this process. They may have run, since tools start when the model has ended. */
  started: ToolPart[];
  /** Calls that have not run and never will: invalid ones, and those whose automatic approval was not logged. */
  refused: ToolPart[];
  /** Calls that the provider was running when the step was cut off. */
  provider: ToolPart[];
};

export function planResume(from: ResumePoint, provider: string): ResumePlan {
  const openStep = from.open.find(({ kind }) => kind === 'step')?.id;
  // Calls that the provider executes are part of its response, so they are generated again with it.
  const hasCalls = from.events.some(
    (event) => event.type === 'tool-call' && event.stepId === openStep && event.executor !== 'provider',
  );
  const isDiscarded = openStep !== undefined && !hasCalls;
  const content = isDiscarded ? removeStep(from.message, openStep) : from.message.content;
  const steps = listSteps(from.events, isDiscarded ? openStep : undefined);
  const cutCalls = isDiscarded ? [] : content.parts.filter((part) => isCutCallOf(part, openStep));
  // A page that shows the step waits until no call of it is incomplete.
  const closing = createClosingEvents(from.open).flatMap((event): AgentEvent[] =>
    event.type === 'step-end' && event.stepId === openStep ? cutCalls.map(toInvalidCall).concat(event) : [event],
  );
  for (const event of closing) {
    if (event.type !== 'step-end') continue;
    if (isDiscarded) event.discarded = true;
    // As in every step, to attribute the tools that the provider runs.
    else event.providerMetadata = { 'ai-sdk': { provider } };
  }
  return {
    closing,
    content,
    cutReasoning: findCutReasoning(from),
    steps,
    calls: findUnfinishedCalls(content, steps),
  };
}

/** Reasoning that was open when a process died: now, or at an earlier takeover, which has closed it after its notice. */
function findCutReasoning({ events, open }: ResumePoint): ReadonlySet<string> {
  const cut = new Set(open.flatMap(({ kind, id }) => (kind === 'reasoning' ? [id] : [])));
  const current = new Set<string>();
  for (const event of events) {
    if (event.type === 'reasoning-start') current.add(event.id);
    else if (event.type === 'reasoning-end') current.delete(event.id);
    else if (event.type === 'notice' && event.code === 'recovered') for (const id of current) cut.add(id);
  }
  return cut;
}

/** Returns the finish reason if the run has no further step: `streamText` would have ended it. */
export function findFinish(
  { steps }: ResumePlan,
  content: MessageContent,
  tools: ToolSet,
): EventOf<'step-end'>['finishReason'] {
  const last = steps.at(-1);
  if (findPendingParts(content).length > 0) return last?.end.finishReason ?? 'tool-calls';
  if (!last?.isComplete) return undefined;
  const calls = content.parts.filter((part): part is ToolPart => isCallOf(part, last.stepId));
  const own = calls.filter(({ executor }) => executor !== 'provider');
  const hasResults = own.length > 0 && own.every(({ state }) => state !== 'call');
  const isDeferred = calls.some(
    ({ executor, state, toolName }) => executor === 'provider' && state === 'call' && mayDefer(tools, toolName),
  );
  return hasResults || isDeferred ? undefined : (last.end.finishReason ?? 'other');
}

/** Whether the provider can send the result of its own tool in the next step. */
function mayDefer(tools: ToolSet, toolName: string): boolean {
  const tool: unknown = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  return isFields(tool) && tool.supportsDeferredResults === true;
}

/** Returns the content to send to the model. */
export function toPromptContent({ cutReasoning }: ResumePlan, content: MessageContent): MessageContent {
  if (cutReasoning.size === 0) return content;
  return { ...content, parts: content.parts.filter(({ id }) => id === undefined || !cutReasoning.has(id)) };
}

function isCallOf(part: MessagePart, stepId: string): boolean {
  return part.type === 'tool-invocation' && !isCutOff(part) && part.stepId === stepId;
}

function isCutCallOf(part: MessagePart, stepId: string | undefined): part is ToolPart {
  return part.type === 'tool-invocation' && part.state === 'partial-call' && part.stepId === stepId;
}

/** Creates the event of a call whose input was cut off. The seal adds its error result, and the model does not get it. */
function toInvalidCall(part: ToolPart): AgentEvent {
  const { argsText: input = '', ...call } = omit(part, 'type', 'id', 'state');
  const message = 'The process stopped before the input was complete. The call has not run.';
  return { type: 'tool-call', ...call, input, invalid: { message, code: cutOffCode } };
}

function removeStep({ content }: CanonicalMessage, stepId: string): MessageContent {
  return { ...content, parts: content.parts.filter((part) => part.stepId !== stepId) };
}

function listSteps(events: readonly AgentEvent[], discarded: string | undefined): LoggedStep[] {
  const steps = new Map<string, LoggedStep>();
  for (const event of events) {
    if (event.type === 'step-start' && event.stepId !== discarded) {
      steps.set(event.stepId, { stepId: event.stepId, isComplete: false, end: {} });
    } else if (event.type === 'step-end' && event.discarded) steps.delete(event.stepId);
    // A step that an earlier takeover has closed has no finish reason. Its calls got their results then.
    else if (event.type === 'step-end') {
      steps.set(event.stepId, {
        stepId: event.stepId,
        isComplete: event.finishReason !== undefined,
        end: defined({ ...event }),
      });
    }
  }
  return [...steps.values()];
}

function findUnfinishedCalls({ parts }: MessageContent, steps: readonly LoggedStep[]): UnfinishedCalls {
  const calls: UnfinishedCalls = { started: [], refused: [], provider: [] };
  const complete = new Set(steps.flatMap(({ stepId, isComplete }) => (isComplete ? [stepId] : [])));
  const ofRun = new Set(steps.map(({ stepId }) => stepId));
  for (const part of parts) {
    // `streamText` ends a step after the results of its tools: a call without one was not executed.
    if (part.type !== 'tool-invocation' || part.state !== 'call' || complete.has(part.stepId ?? '')) continue;
    const { approval, executor, stepId } = part;
    const isOfRun = stepId !== undefined && ofRun.has(stepId);
    if (executor === 'provider') {
      if (isOfRun) calls.provider.push(part);
    } else if (part.invalid || (approval?.automatic && !approval.answer)) calls.refused.push(part);
    else if (executor !== 'runtime') continue;
    else if (approval ? isApproved(approval) : isOfRun) calls.started.push(part);
  }
  return calls;
}

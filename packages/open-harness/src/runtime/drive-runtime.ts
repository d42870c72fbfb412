import { toFault, type Answer, type OnLoss, type RunControl, type RunInput } from '@intertie/core';
import { toAbortEnd, defined, isFields } from '@intertie/core/internal';
import { getActiveRuntime, startRuntime, trackActiveNode } from './active-runtimes.ts';
import { createInputQueue } from './input-queue.ts';
import { MessageDelivery } from './message-delivery.ts';
import { isTerminalEvent, type OpenHarnessInput, type RuntimeEvent } from './runtime-event.ts';
import type { RunSnapshot, RuntimeLike } from './runtime.ts';
import { getLastUserText, undeliveredText } from './request-text.ts';

export interface DriveOptions {
  run: RunInput;
  control: Pick<RunControl, 'signal' | 'liveAnswers'>;
  input: Record<string, unknown>;
  pauses: 'token' | 'live';
  onAbort: 'stop' | 'pause';
  whenRunning: 'send' | 'refuse';
  drainMs: number;
  onLoss: OnLoss;
}

/**
 * Starts, resumes or joins a runtime, depending on its status. Returns its events and the result of its promise. Subscribes
 * before starting, because events are not repeated, and unsubscribes when the stream ends or is cancelled.
 */
export function driveRuntime(runtime: RuntimeLike, options: DriveOptions): ReadableStream<OpenHarnessInput> {
  const { run, control, pauses, drainMs, onLoss } = options;
  const { signal } = control;
  let answers: AsyncIterator<Answer> | undefined;
  let unsubscribe: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  /** The flow is not running, so there is nothing to stop. */
  let isIdle = true;
  /** Delivery of a message to a flow that was already running, until it is reported as undelivered. */
  let delivery: MessageDelivery | undefined;

  const onEvent = (event: RuntimeEvent): void => {
    const isEnd = isFields(event) && isTerminalEvent(event) && (event.type !== 'flow:paused' || pauses !== 'live');
    if (isEnd) checkDelivery();
    queue.push(event);
    // The decoder reports a malformed event; nothing may throw here.
    if (!isFields(event)) return;
    trackActiveNode(runtime, event);
    tryDeliver((message) => message.handleEvent(event));
    if (event.type === 'flow:complete') isIdle = true;
    if (event.type === 'flow:resumed') clearTimeout(timer);
    if (event.type === 'flow:paused' || event.type === 'flow:aborted') {
      isIdle = true;
      // Agents emit final events before the promise settles, but the promise may never settle.
      clearTimeout(timer);
      if (pauses !== 'live') timer = setTimeout(() => queue.push({ type: 'drained' }), drainMs);
    }
  };

  const cleanUp = (): void => {
    if (isOver) return;
    isOver = true;
    checkDelivery();
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    unsubscribe?.();
    answers?.return?.().catch(() => undefined);
    if (!isIdle) haltRuntime();
  };

  const fail = (error: unknown, code: string): void => {
    cleanUp();
    queue.fail(toFault(error, code));
  };

  const haltRuntime = (): void => {
    isIdle = true;
    const reason = toAbortEnd(signal.reason).message;
    try {
      stopRuntime(runtime, options.onAbort, reason);
    } catch (error) {
      onLoss({ kind: 'unsupported', what: 'stop', why: toFault(error).message });
    }
  };

  const onAbort = (): void => {
    const { by, message: reason } = toAbortEnd(signal.reason);
    queue.push({ type: 'stopping', ...defined({ by, reason }) });
    if (!isIdle) haltRuntime();
  };

  const tryDeliver = (attempt: (message: MessageDelivery) => void): void => {
    if (delivery === undefined) return;
    try {
      attempt(delivery);
    } catch (error) {
      delivery = undefined;
      fail(error, 'send');
    }
  };

  /** Reports, once, a message that no node has received by the end of the run. */
  const checkDelivery = (): void => {
    if (!delivery?.isUndelivered) return;
    delivery = undefined;
    queue.push({ type: 'undelivered' });
    onLoss({ kind: 'unsupported', what: 'message', why: undeliveredText });
  };

  /** Follows a promise until it settles. After a live pause, waits for the answer and resumes. */
  const followRun = async (promise: Promise<RunSnapshot>): Promise<void> => {
    let snapshot: RunSnapshot;
    try {
      snapshot = await promise;
    } catch (error) {
      isIdle = true;
      return fail(error, 'run-rejected');
    }
    isIdle = true;
    if (snapshot?.status !== 'paused' || pauses !== 'live') checkDelivery();
    queue.push({ type: 'settled', snapshot });
    if (pauses !== 'live' || snapshot?.status !== 'paused' || isOver) {
      cleanUp();
      return queue.close();
    }
    answers ??= control.liveAnswers[Symbol.asyncIterator]();
    const answer = await answers.next();
    if (isOver) return;
    if (answer.done) return queue.push({ type: 'drained' });
    const text = toAnswerText(answer.value);
    queue.push({ type: 'answered', text });
    await start(() => resumeRuntime(runtime, text));
  };

  const start = (begin: () => Promise<RunSnapshot>): Promise<void> => {
    isIdle = false;
    return followRun(startRuntime(runtime, begin));
  };

  const queue = createInputQueue<OpenHarnessInput>((_reason, unread) => {
    cleanUp();
    for (const { type } of unread.filter((input) => isFields(input))) {
      if (type.includes(':')) onLoss({ kind: 'late', what: type, why: 'The event arrived after the end of the run.' });
    }
  });
  const text = getRequestText(run);
  const { status } = runtime.getSnapshot();
  if (status === 'complete' || status === 'aborted') throw new Error(formatFinishedError(status));
  if (status === 'running' && (options.whenRunning === 'refuse' || !acceptsMessages(runtime))) {
    throw new Error(formatBusyError(acceptsMessages(runtime)));
  }
  unsubscribe = runtime.onEvent(onEvent);
  signal.addEventListener('abort', onAbort);
  if (status === 'running') {
    isIdle = false;
    delivery = new MessageDelivery(runtime, text);
    const { promise, nodeRunId } = getActiveRuntime(runtime) ?? {};
    if (nodeRunId !== undefined) tryDeliver((message) => message.send(nodeRunId));
    if (promise !== undefined) void followRun(promise);
  } else void start(() => (status === 'paused' ? resumeRuntime(runtime, text) : runtime.run(options.input)));
  return queue.stream;
}

/** Resumes a paused runtime. The first generation has no method: a command sets the message, and `run()` continues. */
function resumeRuntime(runtime: RuntimeLike, text: string): Promise<RunSnapshot> {
  const message = text === '' ? undefined : text;
  if (runtime.resume) return runtime.resume(message);
  runtime.dispatch?.({ type: 'resume', ...defined({ message }) });
  return runtime.run();
}

function stopRuntime(runtime: RuntimeLike, how: 'stop' | 'pause', reason: string | undefined): void {
  if (how === 'pause' && runtime.pause) return runtime.pause();
  if (how === 'stop' && runtime.stop) return runtime.stop();
  if (!runtime.dispatch) throw new Error('The runtime cannot be stopped and continues unobserved.');
  runtime.dispatch({ type: 'abort', ...(how === 'pause' && { resumable: true }), ...defined({ reason }) });
}

/** Only the first generation has an inbox. */
function acceptsMessages(runtime: RuntimeLike): boolean {
  return runtime.dispatch !== undefined && runtime.resume === undefined;
}

/** Returns the text of the user's answer or message. */
function getRequestText(run: RunInput): string {
  const answer = run.answers.find((given): given is Answer => 'questionId' in given);
  return answer === undefined ? (getLastUserText(run) ?? '') : toAnswerText(answer);
}

function toAnswerText({ value, approved, cancelled, reason }: Answer): string {
  if (typeof value === 'string') return value;
  if (value !== undefined) return JSON.stringify(value);
  if (approved !== undefined) return [approved ? 'yes' : 'no', ...(reason === undefined ? [] : [reason])].join(': ');
  return cancelled ? 'cancelled' : '';
}

function formatFinishedError(status: string): string {
  return (
    `This Open Harness runtime has already run (its status is "${status}"), and a runtime runs once. ` +
    'Pass a function that creates one for every message: () => createRuntime({ flow, registry }).'
  );
}

function formatBusyError(acceptsMessage: boolean): string {
  const why = acceptsMessage ? 'and whenRunning is "refuse"' : 'and accepts messages only when paused';
  return `This Open Harness runtime is still working on the last message, ${why}. Wait, or stop it first.`;
}

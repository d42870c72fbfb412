import type { Message } from '@ag-ui/core';
import {
  generateId,
  RunRefusedError,
  serveDurableRun,
  type AgentEvent,
  type DurableAgent,
  type Encoder,
  type Json,
  type OpenRun,
  type RunRequest,
  type ServedRun,
} from '@intertie/core';
import { resolveEventFileUrls, resolveFileUrls, type AnswersByRun } from '@intertie/core/internal';
import type { Decision, PendingPolicy } from '@intertie/core/store';
import { withPublicFaults } from '@intertie/core/http';
import type { DurableAGUIHandlerOptions } from './ag-ui-handler-options.ts';
import type { AGUIEvent, AGUIRunInput } from '../shared/ag-ui-event.ts';
import type { AGUIOpenState } from '../encode/ag-ui-encoder-options.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import { getFeatures } from '../shared/ag-ui-version.ts';
import { joinRun, streamStored } from './join-run.ts';
import { defined, isEmptyValue } from '../shared/read-fields.ts';
import { isTanStack, RequestError } from './read-run-agent-input.ts';
import { withCommandResume } from './read-command-resume.ts';
import { encodeInterruptId } from '../shared/interrupt.ts';
import { readAnswers, readRequest, type RequestedRun } from './read-request.ts';
import { replayRun } from './replay-run.ts';
import { toRunContext } from '../messages/to-run-input.ts';
import { StoredBranch } from './stored-branch.ts';
import { streamRun, streamWritten } from './stream-run.ts';
import { getResultIds, type ToAGUIMessagesOptions } from '../encode/to-ag-ui-messages.ts';

/** Events of a response, and the ids of their run and message. Events of stored messages have none. */
export type RunResponse = { events: ReadableStream<AGUIEvent>; ids?: ServedRun['ids'] };
/** The requesting client: its protocol version, its ids for the run, and the messages that it has. */
type Client = {
  protocolVersion?: string;
  runId?: string;
  parentRunId?: string;
  messages?: readonly Message[];
  announceClientTools?: boolean;
};

/**
 * Serves AG-UI clients from an agent with durable runs. The history comes from the store: of the client's messages, only new
 * user messages and answers to open questions or client tools are used.
 */
export class DurableAGUIHandler {
  #agent: DurableAgent;
  #options: DurableAGUIHandlerOptions;

  constructor(agent: DurableAgent, options: DurableAGUIHandlerOptions) {
    this.#agent = agent;
    this.#options = options;
  }

  /** Starts, continues or joins the run that a request asks for. */
  async run(sent: AGUIRunInput, request: Request): Promise<RunResponse> {
    const { onLoss = () => undefined, interrupts } = this.#options;
    const { threadId, runId } = sent;
    const listOpenIds = (): Promise<string[]> => this.#listInterruptIds(threadId);
    const input = interrupts === 'langgraph' ? await withCommandResume(sent, listOpenIds) : sent;
    const client = { ...input, announceClientTools: isTanStack(request, input) };
    const branch = await this.#readBranch(threadId, input);
    const requested = readRequest(input, branch, onLoss);
    const answers = await this.#readAnswers(input, branch);
    const isNew = requested.message !== undefined || requested.regenerate !== undefined;
    const { busy = 'replace', by } = this.#options;
    const options = { busy, pending: this.#getPendingPolicy(input), by, conflict: 'join' as const };
    if (answers.size > 0) {
      const next = requested.message && (await this.#prepare(requested, input, request));
      return this.#serve(
        await serveDurableRun(this.#agent, { type: 'answer', threadId, answers, next }, options),
        client,
      );
    }
    if (isNew && !input.resume?.length) {
      const command = { type: 'start' as const, request: await this.#prepare(requested, input, request) };
      return this.#serve(await serveDurableRun(this.#agent, command, options), client);
    }
    const known = await this.#agent.find({ runId, threadId });
    if (!known && input.resume?.length) {
      throw new RequestError('`resume` names no interrupt of this thread. Use the ids of RUN_FINISHED.', 422);
    }
    const last = await serveDurableRun(this.#agent, { type: 'join', threadId, runId: known?.runId });
    if (last) return this.#join(last, client);
    throw new RequestError('There is nothing to answer: `messages` must end with a user message.', 422);
  }

  /** Joins the named or latest run of a thread. For a thread without runs, sends its stored messages. */
  async connect(threadId: string, client: Pick<Client, 'runId' | 'protocolVersion'>): Promise<RunResponse> {
    const { runId } = client;
    const served = await serveDurableRun(this.#agent, { type: 'join', threadId, runId });
    if (served) return this.#join(served, client);
    if (!(await this.#agent.store.getThreadById({ threadId }))) {
      throw new RunRefusedError({ code: 'not-found', what: 'thread' });
    }
    const { generateId: createId = generateId, fileUrl } = this.#options;
    const { stored } = await this.#readBranch(threadId, client);
    const branch = await resolveFileUrls(stored, this.#agent.store, fileUrl);
    const { messages: history, unattached } = new StoredBranch(branch, this.#messageOptions(client));
    const ids = { runId: createId(), threadId, messageId: createId() };
    const events = [
      { type: 'run-start' as const, ...ids },
      { type: 'run-end' as const, outcome: 'complete' as const },
    ];
    return { events: streamStored(this.#createEncoder(client, ids.runId), { history, unattached, events }) };
  }

  /** Streams the last answer of a thread, or the named run, from its start. Returns null if there is none to resume. */
  async replay(threadId: string, client: Pick<Client, 'runId' | 'protocolVersion'>): Promise<RunResponse | null> {
    if (client.runId !== undefined) return this.#replayNamed(threadId, client.runId, client);
    const { now, replayEndedMs = 60_000, fileUrl } = this.#options;
    const options = { now, replayEndedMs, replayPaused: true };
    const served = await serveDurableRun(this.#agent, { type: 'join', threadId }, options);
    if (served === null) return null;
    // The client gets no history, so a later snapshot must cover only the messages of this stream.
    const encoder = this.#createEncoder({ ...client, messages: [] }, served.run.runId);
    const streamOptions = { encoder, ...this.#streamOptions(served, {}), ...defined({ fileUrl }) };
    const events = await replayRun(this.#agent, served, streamOptions);
    return events && { ids: served.ids, events };
  }

  /** Streams exactly the events of one run, for a source whose process has died. Returns null if its log was dropped. */
  async #replayNamed(threadId: string, runId: string, client: Client): Promise<RunResponse | null> {
    const run = await this.#agent.find({ runId, threadId });
    if (run === null) throw new RunRefusedError({ code: 'not-found', what: 'run', threadId, id: runId });
    const current = await serveDurableRun(this.#agent, { type: 'join', threadId, runId });
    // A paused run that was answered has a continuation, which is another run.
    const served = current?.run.runId === runId ? current : { run, follow: () => run.follow() };
    const { dropped } = await this.#agent.store.log.read((await run.record()).key, { epoch: 0, seq: 0 }, 1);
    if (dropped) return null;
    const encoder = this.#createEncoder({ ...client, messages: [] }, runId);
    const options = { encoder, ...this.#streamOptions({ run }, {}) };
    return { ids: { runId, messageId: run.messageId }, events: streamRun(served, options) };
  }

  async #prepare(
    requested: RequestedRun,
    input: AGUIRunInput,
    request: Request,
  ): Promise<RunRequest & { threadId: string }> {
    const { threadId, runId, parentRunId, state } = input;
    const { prepare, busy = 'replace', by } = this.#options;
    const parent = requested.message && parentRunId ? await this.#agent.find({ runId: parentRunId, threadId }) : null;
    const parentId = parent?.messageId ?? requested.message?.parentId ?? requested.regenerate;
    const run = {
      threadId,
      runId,
      busy,
      pending: this.#getPendingPolicy(input),
      ...toRunContext(input),
      ...defined({ message: requested.message?.message, parentId, by }),
      // Clients without state send an empty one, which must not reset the state of the thread.
      ...(!isEmptyValue(state) && { state: state as Json }),
    };
    return { ...run, ...(await prepare?.(run, { request, input })) };
  }

  /** A client before 1.0 does not know the open questions after a reload, so a refusal would block its thread. */
  #getPendingPolicy({ protocolVersion = this.#options.protocolVersion }: Client): PendingPolicy {
    return this.#options.pending ?? (getFeatures(protocolVersion).v1 ? 'reject' : 'supersede');
  }

  /** Streams a new run from its start, and joins a known one. */
  async #serve(served: ServedRun | OpenRun, client: AGUIRunInput & Client): Promise<RunResponse> {
    if (served.type === 'open') return { events: this.#streamOpenQuestions(served.open, client) };
    const { threadId, runId } = served.run;
    if (!served.isNew) {
      const joined = await serveDurableRun(this.#agent, { type: 'join', threadId, runId });
      return this.#join(joined ?? served, client);
    }
    const encoder = this.#createEncoder(client, runId);
    return { ids: served.ids, events: streamRun(served, { encoder, ...this.#streamOptions(served, client) }) };
  }

  /** Streams a run that only pauses for the questions that are still open. The agent runs once all are answered. */
  #streamOpenQuestions(open: readonly Decision[], input: AGUIRunInput & Client): ReadableStream<AGUIEvent> {
    const { runId, threadId } = input;
    const encoder = this.#createEncoder(input, runId);
    return streamWritten((emit) => {
      encoder.feed({ type: 'run-start', runId, threadId, messageId: open[0]!.messageId }, emit);
      // The encoder needs the questions for `run-end`; the client already has them.
      for (const decision of open)
        if ('question' in decision) encoder.feed({ type: 'question', ...decision.question }, () => undefined);
      const waitingFor = open.map((decision) =>
        decision.kind === 'client-tool'
          ? { type: 'tool' as const, toolCallId: decision.toolCallId }
          : { type: 'question' as const, questionId: decision.id },
      );
      encoder.feed({ type: 'run-end', outcome: 'paused', waitingFor }, emit);
    });
  }

  async #join(served: ServedRun, client: Client): Promise<RunResponse> {
    const options = {
      encoder: this.#createEncoder({ ...client, messages: undefined }, served.run.runId),
      messageOptions: this.#messageOptions(client),
      ...this.#streamOptions(served, client),
      ...defined({ known: client.messages, fileUrl: this.#options.fileUrl }),
    };
    return { ids: served.ids, events: await joinRun(this.#agent, served, options) };
  }

  #streamOptions({ run }: Pick<ServedRun, 'run'>, { runId = run.runId, parentRunId }: Client) {
    const resolveFiles = (events: readonly AgentEvent[]): Promise<readonly AgentEvent[]> =>
      resolveEventFileUrls(events, this.#agent.store, this.#options.fileUrl);
    return { clientIds: { runId, ...defined({ parentRunId }) }, resolveFiles };
  }

  /**
   * Reads the answers to open decisions. If there are none, reads answers to settled decisions: a client that repeats an answer
   * gets the result of the first one.
   */
  async #readAnswers(input: AGUIRunInput, branch: StoredBranch): Promise<AnswersByRun> {
    const { onLoss = () => undefined } = this.#options;
    const { threadId, resume = [], messages } = input;
    if (resume.length === 0 && messages.every(({ role }) => role !== 'tool')) return new Map();
    const { registry, scope } = this.#agent.store;
    const open = await registry.listDecisions(scope, { threadId, state: 'open' });
    const answers = readAnswers(input, branch, sortByBranch(open, branch), onLoss);
    if (answers.size > 0 || (resume.length === 0 && messages.at(-1)?.role !== 'tool')) return answers;
    return readAnswers(input, branch, sortByBranch(await registry.listDecisions(scope, { threadId }), branch), onLoss);
  }

  async #listInterruptIds(threadId: string): Promise<string[]> {
    const { registry, scope } = this.#agent.store;
    const open = await registry.listDecisions(scope, { threadId, state: 'open' });
    return open.flatMap((decision) => ('question' in decision ? [encodeInterruptId(decision.question)] : []));
  }

  async #readBranch(threadId: string, client: Client): Promise<StoredBranch> {
    return new StoredBranch(await this.#agent.store.listMessages({ threadId }), this.#messageOptions(client));
  }

  #messageOptions({ protocolVersion = this.#options.protocolVersion, messages }: Client): ToAGUIMessagesOptions {
    const { sendReasoning = true, sendInternal = false } = this.#options;
    const resultIds = messages && getResultIds(messages);
    return { sendReasoning, sendInternal, ...defined({ protocolVersion, resultIds }) };
  }

  #createEncoder(
    { protocolVersion = this.#options.protocolVersion, messages, announceClientTools }: Client,
    runId: string,
  ): Encoder<AGUIEvent, AGUIOpenState> {
    const { form, timestamps, stepNames, sendReasoning, sendInternal, preliminary, snapshot } = this.#options;
    const { interrupts, onLoss, errorText } = this.#options;
    const shown = { sendReasoning, sendInternal, preliminary, snapshot, interrupts };
    const encoding = { form, timestamps, stepNames, ...shown, onLoss };
    return withPublicFaults(
      createAGUIEncoder(defined({ ...encoding, protocolVersion, messages, announceClientTools })),
      {
        runId,
        errorText,
      },
    );
  }
}

/** Sorts decisions of the client's branch last, so that they win over calls with the same id in other branches. */
function sortByBranch(decisions: readonly Decision[], { stored }: StoredBranch): Decision[] {
  const ids = new Set(stored.map(({ id }) => id));
  return decisions.toSorted((a, b) => Number(ids.has(a.messageId)) - Number(ids.has(b.messageId)));
}

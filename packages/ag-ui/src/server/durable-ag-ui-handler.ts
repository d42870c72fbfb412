import type { Message } from '@ag-ui/core';
import {
  generateId,
  RunRefusedError,
  type AgentEvent,
  type DurableAgent,
  type DurableRun,
  type Encoder,
  type Json,
  type RunRequest,
} from '@intertie/core';
import type { Answered } from '@intertie/core/internal';
import type { Decision, StopResult } from '@intertie/core/store';
import { withPublicFaults } from '@intertie/core/http';
import type { DurableAGUIHandlerOptions } from './ag-ui-handler-options.ts';
import type { AGUIEvent, AGUIRunInput } from '../shared/ag-ui-event.ts';
import type { AGUIOpenState } from '../encode/ag-ui-encoder-options.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import { currentRun, joinRun, tellStored } from './join-run.ts';
import { defined, isNothing } from '../shared/read-fields.ts';
import { RequestProblem } from './read-run-agent-input.ts';
import { readAnswers, readTurn, type AGUITurn, type GivenAnswers } from './read-request.ts';
import { replayRun } from './replay-run.ts';
import { contextOfInput } from '../messages/read-run-input.ts';
import { StoredBranch } from './stored-branch.ts';
import { tellEventFiles, tellFiles } from './resolve-file-urls.ts';
import { tellRun } from './stream-run.ts';
import { resultIdsOf, type ToAGUIMessagesOptions } from '../encode/to-ag-ui-messages.ts';

/** `run`: the one that is told, if it is one. */
export type Told = { events: ReadableStream<AGUIEvent>; run?: DurableRun };
/** Who asks: what it speaks, how it calls its run, and what it has. */
type Client = {
  protocolVersion?: string;
  runId?: string;
  parentRunId?: string;
  messages?: readonly Message[];
};

/**
 * What a client of AG-UI asks of an agent whose runs are kept. The history is the store's: of what the client sends, only
 * what the user says now and what was waited for is taken.
 */
export class DurableDoor {
  #agent: DurableAgent;
  #options: DurableAGUIHandlerOptions;

  constructor(agent: DurableAgent, options: DurableAGUIHandlerOptions) {
    this.#agent = agent;
    this.#options = options;
  }

  /** The run that a client asks for: begun, gone on with, or joined. */
  async run(input: AGUIRunInput, request: Request): Promise<Told> {
    const { onLoss = () => undefined } = this.#options;
    const { threadId, runId } = input;
    const branch = await this.#branch(threadId, input);
    const turn = readTurn(input, branch, onLoss);
    const given = await this.#given(input, branch);
    if (given.size > 0) return this.#answer(given, turn, input, request);
    const known = await this.#agent.find({ runId, threadId });
    if (known && turn.message) throw new RunRefusedError({ code: 'run-exists', run: await known.record() });
    if (known) return this.#join(await currentRun(this.#agent, known), input);
    if (input.resume?.length) {
      throw new RequestProblem(
        '`resume` names no interrupt of this thread. Use the ids as RUN_FINISHED said them.',
        422,
      );
    }
    if (turn.message || turn.again !== undefined) return this.#begin(turn, input, request);
    const last = await this.#agent.latest({ threadId });
    if (last) return this.#join(last, input);
    throw new RequestProblem('There is nothing to answer: `messages` ends with no message of the user’s.', 422);
  }

  /** Stops the run that is named, or the last one. */
  async stop(threadId: string, runId: string | undefined): Promise<{ runId: string; result: StopResult }> {
    const run = await this.#find(threadId, runId);
    if (run === null) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    return { runId: run.runId, result: await run.stop() };
  }

  /** A thread for a client that comes back: its last run, or what is stored of it. */
  async connect(threadId: string, client: Pick<Client, 'runId' | 'protocolVersion'>): Promise<Told> {
    const { runId } = client;
    const run = await this.#find(threadId, runId);
    if (run) return this.#join(await currentRun(this.#agent, run), client);
    if (runId !== undefined) throw new RunRefusedError({ code: 'not-found', what: 'run' });
    if (!(await this.#agent.store.getThreadById({ threadId }))) {
      throw new RunRefusedError({ code: 'not-found', what: 'thread' });
    }
    const { generateId: mint = generateId, fileUrl } = this.#options;
    const { stored } = await this.#branch(threadId, client);
    const branch = await tellFiles(stored, this.#agent.store, fileUrl);
    const { told: history, beside } = new StoredBranch(branch, this.#telling(client));
    const ids = { runId: mint(), threadId, messageId: mint() };
    const events = [
      { type: 'run-start' as const, ...ids },
      { type: 'run-end' as const, outcome: 'complete' as const },
    ];
    return { events: tellStored(this.#encoder(client, ids.runId), { history, beside, events }) };
  }

  /** The last answer of a thread from its beginning. Null: there is none to come back to. */
  async replay(threadId: string, client: Pick<Client, 'protocolVersion'>): Promise<Told | null> {
    const latest = await this.#agent.latest({ threadId });
    const run = latest && (await currentRun(this.#agent, latest));
    if (run === null) return null;
    // It is told nothing of what was before, so what is corrected later is corrected in what it is told.
    const encoder = this.#encoder({ ...client, messages: [] }, run.runId);
    const { now, replayEndedMs, fileUrl } = this.#options;
    const options = { encoder, ...this.#naming(run, {}), ...defined({ now, replayEndedMs, fileUrl }) };
    const events = await replayRun(this.#agent, run, options);
    return events && { run, events };
  }

  #find(threadId: string, runId: string | undefined): Promise<DurableRun | null> {
    return runId === undefined ? this.#agent.latest({ threadId }) : this.#agent.find({ runId, threadId });
  }

  async #begin(turn: AGUITurn, input: AGUIRunInput, request: Request): Promise<Told> {
    const run = await this.#start(turn, input, request);
    return { run, events: this.#follow(run, input) };
  }

  async #start(turn: AGUITurn, input: AGUIRunInput, request: Request, busy = this.#options.busy): Promise<DurableRun> {
    const { threadId, runId, parentRunId, state } = input;
    const { prepare, pending = 'reject', by } = this.#options;
    const parent = turn.message && parentRunId ? await this.#agent.find({ runId: parentRunId, threadId }) : null;
    const parentId = parent?.messageId ?? turn.message?.parentId ?? turn.again;
    const asked: RunRequest = {
      threadId,
      runId,
      busy: busy ?? 'replace',
      pending,
      ...contextOfInput(input),
      ...defined({ message: turn.message?.message, parentId, by }),
      // A client that has no state says so with an empty one, which is no reason to forget what the thread has.
      ...(!isNothing(state) && { state: state as Json }),
    };
    const prepared = await prepare?.(asked, { request, input });
    return this.#agent.start({ ...asked, ...prepared });
  }

  async #answer(given: GivenAnswers, turn: AGUITurn, input: AGUIRunInput, request: Request): Promise<Told> {
    const { threadId } = input;
    const { by } = this.#options;
    const all: Answered[] = [];
    for (const [runId, answers] of given) {
      // oxlint-disable-next-line no-await-in-loop -- mostly one; several are of different branches
      all.push(await this.#agent.answer({ runId, threadId }, answers, by));
    }
    const open = all.flatMap((answered) => answered.open);
    if (turn.message) {
      // What was answered goes on first, and the new message follows it: the client is told both.
      const run = await this.#start(turn, input, request, open.length > 0 ? undefined : 'queue');
      return this.#join(run, input);
    }
    const answered = all.find(({ run }) => run);
    if (answered?.run) {
      const isNew = answered.verdicts.some(({ result }) => result === 'accepted') && !given.has(answered.run.runId);
      if (!isNew) return this.#join(await currentRun(this.#agent, answered.run), input);
      return { run: answered.run, events: this.#follow(answered.run, input) };
    }
    if (open.length > 0) return { events: this.#stillOpen(open, input) };
    const verdicts = all.flatMap((one) => one.verdicts);
    const said = verdicts.map(({ id, result }) => `${id} (${result})`).join(', ');
    throw new RequestProblem(
      `Nothing is left to answer there: ${said}. Connect to the thread to see how it stands.`,
      409,
    );
  }

  /** Nothing runs before all is answered: what is left, as the outcome of a run that is none. */
  #stillOpen(open: readonly Decision[], input: AGUIRunInput): ReadableStream<AGUIEvent> {
    const { runId, threadId } = input;
    const encoder = this.#encoder(input, runId);
    return new ReadableStream({
      start(controller) {
        const emit = (event: AGUIEvent): void => controller.enqueue(event);
        encoder.feed({ type: 'run-start', runId, threadId, messageId: open[0]!.messageId }, emit);
        // The client has been told of the questions.
        for (const decision of open)
          if ('question' in decision) encoder.feed({ type: 'question', ...decision.question }, () => undefined);
        const waitingFor = open.map((decision) =>
          decision.kind === 'client-tool'
            ? { type: 'tool' as const, toolCallId: decision.toolCallId }
            : { type: 'question' as const, questionId: decision.id },
        );
        encoder.feed({ type: 'run-end', outcome: 'paused', waitingFor }, emit);
        controller.close();
      },
    });
  }

  /** From the beginning, for the client that has asked for it and has the rest. */
  #follow(run: DurableRun, client: Client): ReadableStream<AGUIEvent> {
    return tellRun(run, { encoder: this.#encoder(client, run.runId), ...this.#naming(run, client) });
  }

  async #join(run: DurableRun, client: Client): Promise<Told> {
    const telling = this.#telling(client);
    const encoder = this.#encoder({ ...client, messages: undefined }, run.runId);
    const more = defined({ known: client.messages, fileUrl: this.#options.fileUrl });
    const options = { encoder, telling, ...this.#naming(run, client), ...more };
    return { run, events: await joinRun(this.#agent, run, options) };
  }

  #naming(run: DurableRun, { runId = run.runId, parentRunId }: Client) {
    const waitsInside = this.#agent.source.pauses === 'live';
    const showFiles = (events: readonly AgentEvent[]): Promise<readonly AgentEvent[]> =>
      tellEventFiles(events, this.#agent.store, this.#options.fileUrl);
    return { named: { runId, ...defined({ parentRunId }) }, waitsInside, showFiles };
  }

  /**
   * The answers to what is open; and where there are none, to what was: who answers the same again is shown what came of it.
   */
  async #given(input: AGUIRunInput, branch: StoredBranch): Promise<GivenAnswers> {
    const { onLoss = () => undefined } = this.#options;
    const { threadId, resume = [], messages } = input;
    if (resume.length === 0 && messages.every(({ role }) => role !== 'tool')) return new Map();
    const { registry, scope } = this.#agent.store;
    const open = await registry.listDecisions(scope, { threadId, state: 'open' });
    const given = readAnswers(input, branch, inOrder(open, branch), onLoss);
    if (given.size > 0 || (resume.length === 0 && messages.at(-1)?.role !== 'tool')) return given;
    return readAnswers(input, branch, inOrder(await registry.listDecisions(scope, { threadId }), branch), onLoss);
  }

  async #branch(threadId: string, client: Client): Promise<StoredBranch> {
    return new StoredBranch(await this.#agent.store.listMessages({ threadId }), this.#telling(client));
  }

  #telling({ protocolVersion = this.#options.protocolVersion, messages }: Client): ToAGUIMessagesOptions {
    const { sendReasoning = true, sendInternal = false } = this.#options;
    const resultIds = messages && resultIdsOf(messages);
    return { sendReasoning, sendInternal, ...defined({ protocolVersion, resultIds }) };
  }

  #encoder(
    { protocolVersion = this.#options.protocolVersion, messages }: Client,
    runId: string,
  ): Encoder<AGUIEvent, AGUIOpenState> {
    const { form, timestamps, stepNames, sendReasoning, sendInternal, preliminary, snapshot, onLoss } = this.#options;
    const encoding = { form, timestamps, stepNames, sendReasoning, sendInternal, preliminary, snapshot, onLoss };
    const { errorText } = this.#options;
    return withPublicFaults(createAGUIEncoder(defined({ ...encoding, protocolVersion, messages })), {
      runId,
      errorText,
    });
  }
}

/** Those of the client's branch last: if another branch asks about a call of the same id, that is not what is meant. */
function inOrder(decisions: readonly Decision[], { stored }: StoredBranch): Decision[] {
  const ids = new Set(stored.map(({ id }) => id));
  return decisions.toSorted((a, b) => Number(ids.has(a.messageId)) - Number(ids.has(b.messageId)));
}

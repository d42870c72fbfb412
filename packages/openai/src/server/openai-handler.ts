import {
  serveDurableRun,
  type DurableAgent,
  type EndpointAgent,
  type EndpointOptions,
  type EndpointRequest,
  type JsonObject,
  type OnLoss,
  type RunRecord,
  type ServedRun,
} from '@intertie/core';
import { checkMessageCounts, readJsonBody, toRunHeaders } from '@intertie/core/http';
import { asFields, defined, isFields, pause } from '@intertie/core/internal';
import { ChatEncoder, type ChatChunk } from '../encode/encode-chat.ts';
import { createResponsesEncoder, type ResponsesEncoder } from '../encode/encode-responses.ts';
import type { Flavour, ResponseEvent } from '../shared/response-event.ts';
import { ResponseFollower, type ResponseEncoder } from './follow-response.ts';
import { listInputItems } from './list-input-items.ts';
import { expired, OpenAIRequestError, responseNotFound, toRunError, toWaitError } from './openai-error.ts';
import { readChatMessages, readResponsesInput, toPlainText, type Conversation, type Turn } from './read-input.ts';
import { findRecord, startRun } from './start-run.ts';
import { toResponseIdentity } from './stored-request.ts';
import { writeSSE } from './write-sse.ts';

/** Maximum wait of a cancel request for the end of its run. */
const cancelWaitMs = 5_000;

/** Prompts for titles, tags and suggestions, which Open WebUI (`### Task:`) and LibreChat send as separate chats. */
const taskPrompt = /^\s*(?:### Task:|Provide a concise, 5-word-or-less title\b|Analyze this conversation and provide:)/;

type HandlerOptions = EndpointOptions & { onLoss?: OnLoss };

/** Serves the agents of a server to OpenAI clients. Each method handles one endpoint and throws if the request is invalid. */
export class OpenAIHandler {
  #options: HandlerOptions;
  #request: EndpointRequest;
  #flavour: Flavour;

  constructor(request: EndpointRequest, flavour: Flavour, options: HandlerOptions) {
    this.#request = request;
    this.#flavour = flavour;
    this.#options = options;
  }

  listModels(): Response {
    return Response.json({ object: 'list', data: this.#request.agents.map(toModel) });
  }

  getModel(): Response {
    return Response.json(toModel(this.#findAgent(this.#request.params.model)));
  }

  async createResponse(): Promise<Response> {
    const body = await this.#readBody();
    const { onLoss } = this.#options;
    const { agent } = this.#findAgent(body.model);
    const conversation = readResponsesInput(body.input ?? [], onLoss);
    const isEphemeral = body.store === false || isTaskPrompt(body, conversation.turns);
    const served = await this.#start(agent, body, conversation, isEphemeral);
    const record = await served.run.record();
    const encoder = this.#createEncoder(record, served.after);
    const follower = this.#follow(agent, served, encoder, served.after);
    if (body.stream === true) return this.#stream(served, follower, toEventFrame);
    if (body.background !== true) await this.#waitForEnd(served, follower, conversation);
    return Response.json(encoder.response, { headers: toRunHeaders(served.ids) });
  }

  /** Returns a response as it is now, or streams its events after `starting_after`. */
  async getResponse(): Promise<Response> {
    const { agent, served, record, from } = await this.#findResponse();
    const { searchParams } = new URL(this.#request.request.url);
    const encoder = this.#createEncoder(record, from);
    const follower = this.#follow(agent, served, encoder, from);
    if (searchParams.get('stream') === 'true') {
      const after = readStartingAfter(searchParams.get('starting_after'));
      if ((after >= 0 || from > 0) && (await served.catchUp()) === null) throw expired();
      return this.#stream(served, follower, (event) => (event.sequence_number > after ? toEventFrame(event) : ''));
    }
    await readSoFar(agent, served, follower);
    return Response.json(encoder.response);
  }

  /** Stops the run of a response, and returns the response when the run has ended. */
  async cancelResponse(): Promise<Response> {
    const { agent, served, record, from } = await this.#findResponse();
    await served.run.stop('cancelled');
    const timeout = new AbortController();
    const encoder = this.#createEncoder(record, from);
    const ended = drain(served, this.#follow(agent, served, encoder, from), timeout.signal);
    await Promise.race([ended, pause(cancelWaitMs, timeout.signal)]).finally(() => timeout.abort());
    return Response.json(encoder.response);
  }

  /** Deletes the answer, everything after it, and its user message unless that has another answer. */
  async deleteResponse(): Promise<Response> {
    const { agent, served, record } = await this.#findResponse();
    const { store } = agent;
    const { threadId, messageId } = record;
    await served.run.stop('deleted');
    const siblings = await store.listSiblings({ threadId, messageId });
    const { parentId } = siblings.find(({ id }) => id === messageId) ?? {};
    await store.deleteMessage({ threadId, messageId: siblings.length > 1 || !parentId ? messageId : parentId });
    if ((await store.getThreadById({ threadId }))?.headId === undefined) await store.deleteThread({ threadId });
    return Response.json({ id: this.#request.params.id!, object: 'response', deleted: true });
  }

  async listInputItems(): Promise<Response> {
    const { agent, record } = await this.#findResponse();
    const { searchParams: query } = new URL(this.#request.request.url);
    return Response.json(await listInputItems(agent, record, { query, flavour: this.#flavour }));
  }

  async createChatCompletion(): Promise<Response> {
    const body = await this.#readBody();
    const { onLoss } = this.#options;
    if (Number(body.n ?? 1) !== 1) throw new OpenAIRequestError('`n` must be 1.', { param: 'n' });
    const { agent } = this.#findAgent(body.model);
    const conversation = readChatMessages(body.messages, onLoss);
    const isEphemeral = isTask(body, conversation.turns);
    const served = await this.#start(agent, withChatFields(body), conversation, isEphemeral);
    const { key, agent: model, createdAt } = await served.run.record();
    const id = `chatcmpl-${key}`;
    const isStreamed = body.stream === true;
    const encoder = new ChatEncoder({ id, model, createdAt: createdAt.getTime(), isStreamed, ...defined({ onLoss }) });
    const follower = this.#follow(agent, served, encoder, served.after);
    if (isStreamed) {
      const hasUsage = asFields(body.stream_options).include_usage === true;
      return this.#stream(served, follower, (chunk) => toChatFrames(chunk, hasUsage), 'data: [DONE]\n\n');
    }
    await this.#waitForEnd(served, follower, conversation);
    if (encoder.error !== undefined) throw toRunError(encoder.error);
    return Response.json(encoder.completion, { headers: toRunHeaders(served.ids) });
  }

  async #readBody(): Promise<JsonObject> {
    const { limits } = this.#options;
    const body = await readJsonBody(this.#request.request, { limits });
    if (!isFields(body)) throw new OpenAIRequestError('The body must be a JSON object.');
    const items = body.input ?? body.messages;
    if (Array.isArray(items)) checkMessageCounts(items, countParts, limits);
    return body as JsonObject;
  }

  /** `model` is the name of an agent. Without one, the default agent answers. */
  #findAgent(model: unknown): EndpointAgent {
    if (model === undefined || model === null) return this.#request.agent;
    const found = this.#request.agents.find(({ name }) => name === model);
    if (found) return found;
    const names = this.#request.agents.map(({ name }) => name).join(', ');
    const message = `The model ${JSON.stringify(model)} does not exist. The agents of this server are: ${names}.`;
    throw new OpenAIRequestError(message, { status: 404, code: 'model_not_found', param: 'model' });
  }

  #start(agent: DurableAgent, body: JsonObject, conversation: Conversation, isEphemeral: boolean): Promise<ServedRun> {
    const { by } = this.#request;
    const { onLoss } = this.#options;
    return startRun(agent, { body, conversation, isEphemeral, by, idempotencyKey: this.#readIdempotencyKey(), onLoss });
  }

  #readIdempotencyKey(): string | undefined {
    return this.#request.request.headers.get('idempotency-key') || undefined;
  }

  /** Waits for the complete answer. If that fails, only a client whose repeated request gets the same run may repeat it. */
  async #waitForEnd<Out>(served: ServedRun, follower: ResponseFollower<Out>, { turns }: Conversation): Promise<void> {
    try {
      await drain(served, follower);
    } catch (error) {
      const hasAnswers = (turns.at(-1)?.outputs.length ?? 0) > 0;
      throw hasAnswers || this.#readIdempotencyKey() !== undefined ? error : toWaitError(error);
    }
  }

  async #findResponse(): Promise<{ agent: DurableAgent; served: ServedRun; record: RunRecord; from: number }> {
    const { params, agents, agent: first } = this.#request;
    const id = params.id!;
    const found = await findRecord(first.agent, id);
    if (found === null) throw responseNotFound(id);
    const { record, from } = found;
    const { agent } = agents.find(({ name }) => name === record.agent) ?? first;
    const { threadId, runId, messageId } = record;
    if ((await agent.store.getMessage({ threadId, messageId })) === null) throw responseNotFound(id);
    // A cursor selects the run itself, and not the run that continues it.
    const served = await serveDurableRun(
      agent,
      { type: 'join', threadId, runId },
      { after: { seq: Math.max(1, from) } },
    );
    if (served === null) throw responseNotFound(id);
    return { agent, served, record, from };
  }

  #createEncoder(record: RunRecord, from: number): ResponsesEncoder {
    const { onLoss } = this.#options;
    const response = toResponseIdentity(record, from);
    return createResponsesEncoder({ response, flavour: this.#flavour, ...(onLoss && { onLoss }) });
  }

  #follow<Out>(
    { store }: DurableAgent,
    served: ServedRun,
    encoder: ResponseEncoder<Out>,
    from: number,
  ): ResponseFollower<Out> {
    return new ResponseFollower(served, { encoder, from, store, errorText: this.#options.errorText });
  }

  #stream<Out>(
    served: ServedRun,
    follower: ResponseFollower<Out>,
    toFrame: (event: Out) => string,
    last = '',
  ): Response {
    const reader = served.follow().getReader();
    const frames: string[] = [];
    const emit = (event: Out): void => {
      const frame = toFrame(event);
      if (frame !== '') frames.push(frame);
    };
    follower.start(emit);
    const close = (): Promise<void> => reader.cancel().catch(() => undefined);
    const response = writeSSE(async () => {
      while (frames.length === 0 && !follower.isOver) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`The log of run ${served.run.runId} ended before the run did.`);
        await follower.feed(value, emit);
      }
      const { isOver: isLast } = follower;
      if (isLast) void close();
      return { text: frames.splice(0).join('') + (isLast ? last : ''), isLast };
    }, close);
    for (const [name, value] of Object.entries(toRunHeaders(served.ids))) response.headers.set(name, value);
    return response;
  }
}

function toModel({ name, description }: EndpointAgent): JsonObject {
  return { id: name, object: 'model', created: 0, owned_by: 'intertie', ...(description && { description }) };
}

function toEventFrame(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** With `include_usage`, the usage is a chunk of its own, as OpenAI sends it. */
function toChatFrames(chunk: ChatChunk, hasOwnUsage: boolean): string {
  const { usage, ...rest } = chunk;
  if (!hasOwnUsage || usage === undefined) return `data: ${JSON.stringify(chunk)}\n\n`;
  return `data: ${JSON.stringify(rest)}\n\ndata: ${JSON.stringify({ ...rest, choices: [], usage })}\n\n`;
}

function countParts(item: unknown): number {
  const { content } = asFields(item);
  return Array.isArray(content) ? content.length : 1;
}

function readStartingAfter(text: string | null): number {
  const after = text === null ? -1 : Number(text);
  if (Number.isSafeInteger(after) && after >= -1) return after;
  throw new OpenAIRequestError(`\`starting_after\` is ${text}. Use a sequence number.`, { param: 'starting_after' });
}

/** Whether a chat is a single call of a program or a title prompt: it leaves no thread in lists unless it is continued. */
function isTask(body: JsonObject, turns: readonly Turn[]): boolean {
  const { store, stream, tools, tool_choice: choice } = body;
  if (store === true || turns.length !== 1) return false;
  if (store === false || isTaskPrompt(body, turns)) return true;
  // A forced tool extracts data and returns no answer.
  const mayAct = Array.isArray(tools) && tools.length > 0 && !isFields(choice);
  return stream !== true && !mayAct;
}

function isTaskPrompt({ store, tools }: JsonObject, turns: readonly Turn[]): boolean {
  const [turn] = turns;
  if (store === true || turn === undefined || turns.length > 1) return false;
  return !(Array.isArray(tools) && tools.length > 0) && taskPrompt.test(toPlainText(turn.user));
}

/** Fields of a chat completion under the names of the Responses API. */
function withChatFields(body: JsonObject): JsonObject {
  const { max_completion_tokens: max = body.max_tokens, reasoning_effort: effort } = body;
  return {
    ...body,
    ...(max !== undefined && { max_output_tokens: max }),
    ...(effort !== undefined && { reasoning: { effort } }),
  };
}

/** Reads a response to its end, or until the signal aborts. The run does not depend on it. */
async function drain<Out>(served: ServedRun, follower: ResponseFollower<Out>, signal?: AbortSignal): Promise<void> {
  const reader = served.follow().getReader();
  const close = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', close, { once: true });
  try {
    while (!follower.isOver) {
      const { done, value } = await reader.read();
      if (done) return;
      await follower.feed(value, () => undefined);
    }
  } finally {
    close();
  }
}

/** Reads the events that exist now. A run that has ended, or whose log was dropped, is read to its end. */
async function readSoFar<Out>(agent: DurableAgent, served: ServedRun, follower: ResponseFollower<Out>): Promise<void> {
  const { state, waiting } = await served.run.record();
  if (state !== 'running' && state !== 'queued') return drain(served, follower);
  const caughtUp = await served.catchUp();
  const events = caughtUp?.events ?? [];
  await follower.feedEvents(events, events.length, () => undefined);
  if (waiting && agent.source.pauses === 'live' && !follower.isOver) follower.wait(() => undefined);
}

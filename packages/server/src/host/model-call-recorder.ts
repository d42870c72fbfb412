import { toAiSdkMessages } from '@intertie/ai-sdk';
import type { AgentDefinition, Json, ModelCall, OnModelCall, RunInput, Usage } from '@intertie/core';
import { capJson, defined } from '@intertie/core/internal';
import { computeCost, type Prices } from '../config/prices.ts';

/** Recorded call of a model, or the input of a runtime that calls its models itself. */
export type RecordedCall = {
  kind: 'model' | 'input';
  at: number;
  provider: string;
  model: string;
  prompt: Json[];
  tools: Json[];
  settings: Json;
  usage?: Usage;
  costUsd?: number;
  error?: string;
};

type RecordedRun = { calls: RecordedCall[]; length: number };

const maxRuns = 50;
/** Maximum size of the calls of one run, in characters. Later calls are recorded without their messages. */
const maxLength = 2_000_000;
/** Maximum size of one message or tool, so that a file does not displace the others. */
const maxMessageBytes = 64_000;

/** Records what the latest runs of this process sent to models and runtimes, in memory. */
export class ModelCallRecorder {
  #prices: Prices;
  #runs = new Map<string, RecordedRun>();

  constructor(prices: Prices = {}) {
    this.#prices = prices;
  }

  /** Records a run of a definition. The result receives its model calls. */
  start(definition: AgentDefinition, name: string, input: RunInput): OnModelCall {
    const recorded = this.#startRun(input);
    const record: OnModelCall = (call) => {
      const entry = toRecordedCall('model', call, recorded);
      return ({ usage, error }) => {
        const costUsd = usage && computeCost(this.#prices, call.model, usage);
        Object.assign(entry, defined({ usage, error, costUsd }));
      };
    };
    if (definition.reportsModelCalls) return record;
    toRecordedCall('input', toInput(definition, name, input), recorded);
    return record;
  }

  /** Lists the calls of a run in order. Undefined if the run was not recorded. */
  list({ runId, threadId }: Pick<RunInput, 'runId' | 'threadId'>): readonly RecordedCall[] | undefined {
    return this.#runs.get(toRunKey(runId, threadId))?.calls;
  }

  #startRun({ runId, threadId }: RunInput): RecordedRun {
    const recorded: RecordedRun = { calls: [], length: 0 };
    const key = toRunKey(runId, threadId);
    this.#runs.delete(key);
    this.#runs.set(key, recorded);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= maxRuns) break;
      this.#runs.delete(oldest);
    }
    return recorded;
  }
}

/** The ids of runs are unique within a thread. */
function toRunKey(runId: string, threadId: string): string {
  return JSON.stringify([threadId, runId]);
}

function toRecordedCall(kind: RecordedCall['kind'], call: ModelCall, recorded: RecordedRun): RecordedCall {
  const { provider, model } = call;
  const cap = (items: readonly unknown[]): Json[] => items.map((item) => capJson(item, maxMessageBytes));
  const entry: RecordedCall = {
    kind,
    at: Date.now(),
    provider,
    model,
    prompt: [],
    tools: [],
    settings: capJson(call.settings, maxMessageBytes),
  };
  const content = { prompt: cap(call.prompt), tools: cap(call.tools) };
  // The text is a copy: a program can change the objects of a prompt later.
  const text = JSON.stringify(content);
  recorded.calls.push(entry);
  if (recorded.length + text.length > maxLength) {
    entry.error = `The recording of this run is full (${maxLength / 1_000_000} MB): the messages were not recorded.`;
    return entry;
  }
  recorded.length += text.length;
  return Object.assign(entry, JSON.parse(text) as typeof content);
}

/** Describes the input of a run like a model call. */
function toInput({ kind }: AgentDefinition, name: string, input: RunInput): ModelCall {
  const { history, message, tools, context, state, forwardedProps, answers } = input;
  return {
    provider: kind,
    model: name,
    prompt: toAiSdkMessages(history, { provider: kind }),
    tools,
    settings: defined({
      continues: message && input.messageId,
      answers: answers.length > 0 ? answers : undefined,
      context: context.length > 0 ? context : undefined,
      state,
      forwardedProps,
    }),
  };
}

import type { Json } from '../json/json.ts';

/** Consumption of one model or runtime. A field that a runtime does not report is absent, never zero. */
export type Usage = {
  provider?: string;
  model?: string;
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  reasoningTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  costUsd?: number;
  raw?: Json;
};

/** Why a model request or a run stopped. */
export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other';

import type { OnLoss } from '@intertie/core';
import type { UIMessageVersion } from '../chunk/ui-message-chunk.ts';

export interface UIMessageEncoderOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** The major of `ai` that reads the stream. 7 also reads what is written for 6. Default: 6. */
  version?: Version;
  /**
   * What a continuation does with the message that it continues: a client that has sent it knows it (`assume`, the
   * default); one that reconnects is told all of it again (`restate`).
   */
  baseline?: 'assume' | 'restate';
  /** Default: yes. */
  sendReasoning?: boolean;
  /** Default: yes. */
  sendSources?: boolean;
  /** What agents say to each other. Default: no. */
  includeInternal?: boolean;
  /** Whether `start` is written; no, where the stream is a part of another. Default: yes. */
  sendStart?: boolean;
  /** Whether `finish` is written. `abort` and `error` always are. Default: yes. */
  sendFinish?: boolean;
  /**
   * The tools that the page has types for: their parts are `tool-<name>`, all others `dynamic-tool`.
   * If absent, the call itself says what it is.
   */
  staticTools?: readonly string[];
  onLoss?: OnLoss;
}

/** The options with nothing left open, but for the tools, of which none named is not the same as none. */
export type UIMessageEncoderSettings = Required<Omit<UIMessageEncoderOptions, 'staticTools'>> & {
  staticTools: readonly string[] | undefined;
};

export function withDefaults(options: UIMessageEncoderOptions): UIMessageEncoderSettings {
  const {
    version = 6,
    baseline = 'assume',
    sendReasoning = true,
    sendSources = true,
    includeInternal = false,
    sendStart = true,
    sendFinish = true,
    staticTools,
    onLoss = () => undefined,
  } = options;
  return {
    version,
    baseline,
    sendReasoning,
    sendSources,
    includeInternal,
    sendStart,
    sendFinish,
    staticTools,
    onLoss,
  };
}

/** Names the options, so that a cursor knows whether it still fits. */
export function toOptionsKey(settings: UIMessageEncoderSettings): string {
  const { version, baseline, sendReasoning, sendSources, includeInternal, sendStart, sendFinish, staticTools } =
    settings;
  const flags = [sendReasoning, sendSources, includeInternal, sendStart, sendFinish].map(Number).join('');
  const names = staticTools ? `-${[...new Set(staticTools)].toSorted().map(encodeURIComponent).join('+')}` : '';
  return `${version}${baseline === 'assume' ? 'a' : 'r'}${flags}${names}`;
}

import type { OnLoss } from '@intertie/core';
import { defined } from '../../shared/read-fields.ts';
import type { UIMessageVersion } from '../chunk/ui-message-chunk.ts';

export interface UIMessageEncoderOptions<Version extends UIMessageVersion = UIMessageVersion> {
  /** Major version of `ai` that reads the stream. 7 also reads streams for 6. Default: 6. */
  version?: Version;
  /**
   * Handling of the message that a continuation extends. `assume`: the client sent it and has it. `restate`: the client
   * reconnects and needs all of it. Default: `assume`.
   */
  baseline?: 'assume' | 'restate';
  /** Whether reasoning is sent. Default: true. */
  sendReasoning?: boolean;
  /** Whether sources are sent. Default: true. */
  sendSources?: boolean;
  /** Whether content exchanged between agents is sent. Default: false. */
  includeInternal?: boolean;
  /** Whether `start` is written. Set to false if the stream is part of another one. Default: true. */
  sendStart?: boolean;
  /** Whether `finish` is written. `abort` and `error` always are. Default: true. */
  sendFinish?: boolean;
  /**
   * Tools that the page has types for. Their parts are `tool-<name>`, all others `dynamic-tool`. Default: each call's own
   * `dynamic` flag decides.
   */
  staticTools?: readonly string[];
  onLoss?: OnLoss;
}

/** Options with defaults applied. `staticTools` stays optional: an empty list differs from none. */
export type UIMessageEncoderSettings = Required<Omit<UIMessageEncoderOptions, 'staticTools'>> & {
  staticTools: readonly string[] | undefined;
};

export function withDefaults(options: UIMessageEncoderOptions): UIMessageEncoderSettings {
  return {
    version: 6,
    baseline: 'assume',
    sendReasoning: true,
    sendSources: true,
    includeInternal: false,
    sendStart: true,
    sendFinish: true,
    staticTools: undefined,
    onLoss: () => undefined,
    ...defined(options),
  };
}

/** Serializes the options that change the output, so that a cursor of other options can be rejected. */
export function toOptionsKey(settings: UIMessageEncoderSettings): string {
  const { version, baseline, sendReasoning, sendSources, includeInternal, sendStart, sendFinish, staticTools } =
    settings;
  const flags = [sendReasoning, sendSources, includeInternal, sendStart, sendFinish].map(Number).join('');
  const names = staticTools ? `-${[...new Set(staticTools)].toSorted().map(encodeURIComponent).join('+')}` : '';
  return `${version}${baseline === 'assume' ? 'a' : 'r'}${flags}${names}`;
}

/** What a client of some version takes. Everything else that we write is taken by all of them since 0.0.45. */
export type AGUIFeatures = {
  /** `SUBAGENT_*` and attribution: since 0.0.59, fatal before. */
  subagents: boolean;
  /** A call that was closed may be opened again, as chunks do when something comes between: since 0.0.58, twice there before. */
  reopenedCalls: boolean;
  /** The outcome `cancelled`, `pendingToolCallIds`, content parts in results: since 1.0, fatal before. */
  v1: boolean;
};

/** What we speak, and declare in every `RUN_STARTED`. */
export const declaredVersion = '1.0';

/**
 * `version` is the protocol's (`1.0`, as a client of 1.0 says in its request) or that of an older client's package
 * (`0.0.59`). Where it is absent or no version, the client may be any: it gets what all of them take.
 */
export function featuresOf(version: string | undefined): AGUIFeatures {
  const [, major, minor, patch] = /^(\d+)\.(\d+)(?:\.(\d+))?$/.exec(version ?? '') ?? [];
  if (major === undefined) return { subagents: false, reopenedCalls: false, v1: false };
  const v1 = Number(major) >= 1;
  const since = (release: number): boolean => v1 || Number(minor) > 0 || Number(patch ?? 0) >= release;
  return { subagents: since(59), reopenedCalls: since(58), v1 };
}

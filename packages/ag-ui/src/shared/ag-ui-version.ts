/** Features that depend on the client's version. All other output works for every client since 0.0.45. */
export type AGUIFeatures = {
  /** `SUBAGENT_*` and attribution: since 0.0.59, fatal before. */
  subagents: boolean;
  /** A closed call may be reopened, as separated chunks do: since 0.0.58. Older clients add the call twice. */
  reopenedCalls: boolean;
  /** The outcome `cancelled`, `pendingToolCallIds`, content parts in results: since 1.0, fatal before. */
  v1: boolean;
};

/** Protocol version that we declare in every `RUN_STARTED`. */
export const declaredVersion = '1.0';

/**
 * Returns the features of a client. `version` is the protocol's (`1.0`, declared in the request) or the package version of an
 * older client (`0.0.59`). If it is absent or malformed, only features of all clients are used.
 */
export function getFeatures(version: string | undefined): AGUIFeatures {
  const [, major, minor, patch] = /^(\d+)\.(\d+)(?:\.(\d+))?$/.exec(version ?? '') ?? [];
  if (major === undefined) return { subagents: false, reopenedCalls: false, v1: false };
  const v1 = Number(major) >= 1;
  const since = (release: number): boolean => v1 || Number(minor) > 0 || Number(patch ?? 0) >= release;
  return { subagents: since(59), reopenedCalls: since(58), v1 };
}

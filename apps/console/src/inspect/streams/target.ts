import type { Codec, AgentEvent, Protocol, OnLoss } from '@intertie/core';

export type TargetId = 'ui-6' | 'ui-7' | 'ag-ui';

/** Protocol that the console encodes canonical events to. */
export type Target = {
  id: TargetId;
  protocol: Protocol;
  encoder(options: TargetOptions): Codec<AgentEvent, unknown>;
};

export type TargetOptions = {
  /** Includes internal messages between agents. */
  internal: boolean;
  onLoss: OnLoss;
};

export const targetLabels: { readonly [Id in TargetId]: string } = {
  'ui-6': 'UI message stream',
  'ui-7': 'UI message stream · ai 7',
  'ag-ui': 'AG-UI 1.0',
};

/** Loads a target. Each is a chunk of its own, so that only the selected encoder and its rules are loaded. */
export async function loadTarget(id: TargetId): Promise<Target> {
  if (id === 'ag-ui') return (await import('./ag-ui-target.ts')).agUiTarget;
  const { createUIMessageTarget } = await import('./ui-message-target.ts');
  return createUIMessageTarget(id === 'ui-7' ? 7 : 6);
}

import type { Codec, AgentEvent, Dialect, OnLoss } from '@intertie/core';

export type TargetId = 'ui-6' | 'ui-7' | 'ag-ui';

/** A protocol that the canonical events are written in, as the page's own encoder writes it. */
export type Target = {
  id: TargetId;
  dialect: Dialect;
  encoder(options: TargetOptions): Codec<AgentEvent, unknown>;
};

export type TargetOptions = {
  /** What agents say to each other. */
  internal: boolean;
  onLoss: OnLoss;
};

export const targetLabels: { readonly [Id in TargetId]: string } = {
  'ui-6': 'UI message stream',
  'ui-7': 'UI message stream · ai 7',
  'ag-ui': 'AG-UI 1.0',
};

/** Each with its encoder and its rules in a chunk of its own: a page that looks at one does not load the others. */
export async function loadTarget(id: TargetId): Promise<Target> {
  if (id === 'ag-ui') return (await import('./ag-ui-target.ts')).agUiTarget;
  const { uiMessageTarget } = await import('./ui-message-target.ts');
  return uiMessageTarget(id === 'ui-7' ? 7 : 6);
}

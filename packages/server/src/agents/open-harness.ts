import { openHarnessSource, type OpenHarnessSourceOptions, type RuntimeOrFactory } from '@intertie/open-harness';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

export type OpenHarnessAgentOptions = AgentDetails & Omit<OpenHarnessSourceOptions, 'name' | 'onFrame'>;

/** An Open Harness flow as an agent; a function makes a runtime for every turn. */
export function openHarness(runtime: RuntimeOrFactory, options: OpenHarnessAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: 'open-harness',
    dialect: 'open-harness',
    createSource: (name, onFrame) => openHarnessSource(runtime, { ...settings, name, ...(onFrame && { onFrame }) }),
  };
}

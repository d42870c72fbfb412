import { openHarnessSource, type OpenHarnessSourceOptions, type RuntimeOrFactory } from '@intertie/open-harness';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

export type OpenHarnessAgentOptions = AgentDetails & Omit<OpenHarnessSourceOptions, 'name' | 'onFrame'>;

/** Defines an agent that runs an Open Harness flow. A factory creates one runtime per run. */
export function openHarness(runtime: RuntimeOrFactory, options: OpenHarnessAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: 'open-harness',
    dialect: 'open-harness',
    createSource: (name, onFrame) => openHarnessSource(runtime, { ...settings, name, ...(onFrame && { onFrame }) }),
  };
}

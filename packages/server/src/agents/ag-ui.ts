import { agUi as agUiDialect, agUiSource, type AGUISourceOptions, type InProcessAgentOptions } from '@intertie/ag-ui';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

export type AGUIAgentOptions = AgentDetails &
  (Omit<AGUISourceOptions, 'name' | 'onFrame'> | Omit<InProcessAgentOptions, 'name' | 'onFrame'>);

/** Defines an agent that calls an AG-UI agent by its URL (`https:` or `wss:`), or runs one of `@ag-ui/client` in this process. */
export function agUi(options: AGUIAgentOptions): AgentDefinition {
  const { details, settings } = splitDetails(options);
  return {
    ...details,
    kind: 'ag-ui',
    dialect: agUiDialect.name,
    createSource: (name, onFrame) =>
      agUiSource({ ...settings, name, ...(onFrame && { onFrame }) } as AGUISourceOptions),
  };
}

import { defined } from '@intertie/core/internal';
import { mailProtocol, mailSource, type MAILSourceSettings } from '@intertie/mail';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

/** Allows explicit `undefined`, which means the environment variable. */
type MAILSettings = Omit<MAILSourceSettings, 'name' | 'onFrame' | 'baseUrl' | 'authToken'> & {
  baseUrl?: string | undefined;
  authToken?: string | undefined;
};

export type MAILAgentOptions = AgentDetails & MAILSettings;

/** Defines an agent that calls a MAIL swarm. Default address: `MAIL_BASE_URL`. */
export function mailSwarm(options: MAILAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  const { baseUrl, authToken, ...rest } = settings;
  return {
    ...details,
    kind: 'mail',
    dialect: mailProtocol.name,
    createSource: (name, onFrame) => mailSource({ ...rest, ...defined({ baseUrl, authToken, onFrame }), name }),
  };
}

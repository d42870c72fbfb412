import { mailDialect, mailSource, type MAILSourceSettings } from '@intertie/mail';
import type { AgentDefinition, AgentDetails } from './agent-definition.ts';
import { splitDetails } from './split-details.ts';

/** `baseUrl: undefined` is as good as none: the environment says where the server is. */
type MAILSettings = Omit<MAILSourceSettings, 'name' | 'onFrame' | 'baseUrl' | 'authToken'> & {
  baseUrl?: string | undefined;
  authToken?: string | undefined;
};

export type MAILAgentOptions = AgentDetails & MAILSettings;

/** A MAIL swarm as an agent. Without a `baseUrl`: that of `MAIL_BASE_URL`. */
export function mailSwarm(options: MAILAgentOptions = {}): AgentDefinition {
  const { details, settings } = splitDetails(options);
  const { baseUrl, authToken, ...rest } = settings;
  return {
    ...details,
    kind: 'mail',
    dialect: mailDialect.name,
    createSource: (name, onFrame) =>
      mailSource({
        ...rest,
        ...(baseUrl !== undefined && { baseUrl }),
        ...(authToken !== undefined && { authToken }),
        name,
        ...(onFrame && { onFrame }),
      }),
  };
}

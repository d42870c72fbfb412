import { existsSync } from 'node:fs';
import type { AgentKind, Environment, Protocol } from '@intertie/core';
import { defined } from '@intertie/core/internal';
import { agentKinds as allKinds } from '../agent-kinds.ts';
import { protocols as allProtocols } from '../protocols.ts';
import type { IntertieConfig } from '../config/config.ts';
import { findEnvironmentAgents } from '../config/environment-agents.ts';
import { hidePassword } from '../config/hide-password.ts';
import { findConfig, loadConfig } from '../config/load-config.ts';
import { examineUrl, formatError, timeoutMs, toFinding, type Finding } from './examine-url.ts';

export type ExamineOptions = {
  url?: string;
  config?: string;
  token?: string;
  /** Protocols whose servers are recognized at the URL. Default: all. */
  protocols?: readonly Protocol[];
  /** Kinds of agents whose environment variables are checked. Default: all. */
  agentKinds?: readonly AgentKind[];
  env: Environment;
};

/** Checks a URL, or the Node version, configuration, database, agents and keys of this folder. Changes nothing. */
export async function examine({
  url,
  config: file,
  token,
  env,
  protocols = allProtocols,
  agentKinds = allKinds,
}: ExamineOptions): Promise<Finding[]> {
  if (url !== undefined) return [await examineUrl(url, token ?? env['INTERTIE_TOKEN'], protocols)];
  const findings: Finding[] = [examineNode(process.versions.node)];
  const { finding, config } = await examineConfig(file);
  findings.push(finding);
  findings.push(await examineDatabase(config?.database ?? (env['DATABASE_URL'] || undefined)));
  findings.push(...(await examineAgents(config)));
  findings.push(...examineKeys(env, agentKinds));
  if (config === undefined) findings.push(...(await examinePackages(env, agentKinds)));
  for (const { title, environment } of agentKinds) {
    const probe = await environment?.probe?.(env);
    if (probe) findings.push(toFinding(title, probe));
  }
  return findings;
}

function examineNode(found: string): Finding {
  const [major = 0, minor = 0] = found.split('.').map(Number);
  const isFine = major > 20 || (major === 20 && minor >= 19);
  if (isFine) return { what: 'Node', state: 'fine', found };
  return { what: 'Node', state: 'broken', found, next: 'Install Node 20.19 or later.' };
}

async function examineConfig(file: string | undefined): Promise<{ finding: Finding; config?: IntertieConfig }> {
  const what = 'Configuration';
  try {
    const path = findConfig(process.cwd(), file);
    if (path === undefined) {
      const next = 'The demo agents are served. Create a configuration with "intertie init --with agent".';
      return { finding: { what, state: 'absent', found: 'none in this folder', next } };
    }
    const config = await loadConfig(path);
    return { finding: { what, state: 'fine', found: path }, config };
  } catch (error) {
    const { message, fix } = error as { message: string; fix?: string };
    return { finding: { what, state: 'broken', found: message, ...defined({ next: fix }) } };
  }
}

async function examineDatabase(database: IntertieConfig['database']): Promise<Finding> {
  const what = 'Database';
  const target = typeof database === 'string' ? database : undefined;
  if (database !== undefined && target === undefined)
    return { what, state: 'fine', found: 'a store of the configuration' };
  const isServer = target !== undefined && /^postgres(ql)?:/.test(target);
  const folder = target ?? './.intertie';
  if (!isServer) {
    const next =
      'Set DATABASE_URL to a Postgres server for several processes and for durability after a power failure.';
    const found = `${folder}, embedded${existsSync(folder) ? '' : ', created at the first start'}`;
    return { what, state: 'fine', found, next };
  }
  const shown = hidePassword(target);
  try {
    const { createStore } = await import('@intertie/postgres');
    const store = await createStore({ url: target, migrate: false });
    await store.close();
    return { what, state: 'fine', found: shown };
  } catch (error) {
    const isOld = /migrat/i.test(formatError(error));
    const next = isOld ? 'Run "intertie migrate".' : 'Start the server or correct DATABASE_URL.';
    return { what, state: 'broken', found: `${shown}: ${formatError(error)}`, next };
  }
}

/** Contacts every agent that can be contacted without a run: its server, or its topology. */
async function examineAgents(config: IntertieConfig | undefined): Promise<Finding[]> {
  return Promise.all(
    Object.entries(config?.agents ?? {}).map(async ([name, agent]): Promise<Finding> => {
      const what = `Agent ${name}`;
      try {
        if ('createSource' in agent && agent.probe) {
          return toFinding(what, await agent.probe(AbortSignal.timeout(timeoutMs)));
        }
        const source = 'createSource' in agent ? agent.createSource(name) : agent;
        if (!source.describe) return { what, state: 'fine', found: 'configured (not contacted)' };
        const { agents } = await source.describe();
        return { what, state: 'fine', found: agents.map((one) => one.name).join(', ') || 'answers' };
      } catch (error) {
        return { what, state: 'broken', found: formatError(error), next: 'Start the runtime, or correct its address.' };
      }
    }),
  );
}

/** Loads the optional packages for the keys in the environment, which are used only without a configuration. */
async function examinePackages(env: Environment, agentKinds: readonly AgentKind[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const onMissing = ({ message: found }: Error): void =>
    void findings.push({ what: 'Package', state: 'broken', found });
  await findEnvironmentAgents(agentKinds, env, onMissing);
  return findings;
}

function examineKeys(env: Environment, agentKinds: readonly AgentKind[]): Finding[] {
  const keys = agentKinds.flatMap(({ environment }) => environment?.keys ?? []);
  const set = keys.filter((name) => env[name]);
  if (set.length > 0) return set.map((name) => ({ what: name, state: 'fine', found: 'set' }));
  const next = `Set one of ${keys.join(', ')} to use a real model or runtime.`;
  return [{ what: 'Keys', state: 'absent', found: 'none in the environment', next }];
}

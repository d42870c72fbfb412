import type { AgentKind, AgentSource, EndpointRoute, Outcome, Protocol, RunRecord, Usage } from '@intertie/core';
import type { Decision, ListedThread, RunState } from '@intertie/core/store';
import { toPublicOutcome } from '@intertie/core/http';
import { defined, omit } from '@intertie/core/internal';
import type { Host, HostedAgent } from '../host/host.ts';

// JSON of the API. Dates are ISO strings, and internal keys of the store are never exposed.

export type AgentInfo = {
  name: string;
  kind: string;
  description?: string;
  isDefault?: true;
  suggestions?: readonly string[];
  pauses: AgentSource['pauses'];
  hasTopology: boolean;
  isDemo?: true;
};

export type ProtocolInfo = Pick<Protocol, 'name' | 'aliases' | 'label' | 'title' | 'items'> & {
  canRead: boolean;
  canWrite: boolean;
  /** Query value of the format that messages have in the protocol. */
  messageFormat?: string;
  endpoints: Array<Pick<EndpointRoute, 'method' | 'path' | 'summary'>>;
};

export type KindInfo = Pick<AgentKind, 'name' | 'title' | 'description'>;

export type ThreadInfo = Omit<ListedThread, 'createdAt' | 'updatedAt'> & {
  agent?: string;
  createdAt: string;
  updatedAt: string;
};

export type RunInfo = {
  runId: string;
  threadId: string;
  messageId: string;
  agent: string;
  state: RunState;
  waiting?: true;
  resumes?: string;
  outcome?: Outcome;
  usage?: Usage[];
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  lastSeq?: number;
};

export type LiveInfo = { runId: string; messageId: string; agent: string };

export function toAgentInfo({ name, definition, agent }: HostedAgent, defaultName: string): AgentInfo {
  const { kind, description, suggestions, isDemo } = definition;
  const { source } = agent;
  return {
    name,
    kind,
    ...defined({ description, suggestions, isDemo }),
    ...(name === defaultName && { isDefault: true }),
    pauses: source.pauses,
    hasTopology: source.describe !== undefined,
  };
}

export function toProtocolInfo(protocol: Protocol): ProtocolInfo {
  const { name, aliases, label, title, items, messages, endpoints } = protocol;
  return {
    name,
    label,
    title,
    ...defined({ aliases, items, messageFormat: messages?.format }),
    canRead: protocol.decoder !== undefined,
    canWrite: protocol.encoder !== undefined,
    endpoints: (endpoints?.routes ?? []).map(({ method, path, summary }) => ({ method, path, summary })),
  };
}

export function toKindInfo({ name, title, description }: KindInfo): KindInfo {
  return { name, title, description };
}

export function toThreadInfo(thread: ListedThread): ThreadInfo {
  const { createdAt, updatedAt, ...rest } = thread;
  const agent = thread.metadata?.['agent'];
  return {
    ...rest,
    ...(typeof agent === 'string' && { agent }),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** Converts a run record. `runs` is searched for the resumed run, which the record names by its internal key. */
export function toRunInfo(
  run: RunRecord,
  { errorText }: Pick<Host, 'errorText'>,
  runs: readonly RunRecord[] = [],
): RunInfo {
  const { runId, threadId, messageId, agent, state, waiting, outcome, usage, lastSeq } = run;
  const { createdAt, startedAt, endedAt } = run;
  const resumes = run.resumes && runs.find(({ key }) => key === run.resumes)?.runId;
  return {
    runId,
    threadId,
    messageId,
    agent,
    state,
    ...defined({ waiting, resumes, usage, lastSeq }),
    ...(outcome && { outcome: toPublicOutcome(outcome, { runId, errorText }) }),
    createdAt: createdAt.toISOString(),
    ...(startedAt && { startedAt: startedAt.toISOString() }),
    ...(endedAt && { endedAt: endedAt.toISOString() }),
  };
}

export function toLiveInfo(run: RunRecord | null): LiveInfo | undefined {
  return run ? { runId: run.runId, messageId: run.messageId, agent: run.agent } : undefined;
}

export type DecisionInfo = Omit<Decision, 'run'>;

export function toDecisionInfo(decision: Decision): DecisionInfo {
  return omit(decision, 'run');
}

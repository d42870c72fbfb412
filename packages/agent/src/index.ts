export { Agent } from './agent.ts';
export type { AgentHome } from './agent.ts';
export type { AgentDefinition, TitleRequest } from './agent-definition.ts';
export type {
  AgentOptions,
  GeneratedAnswer,
  ModelAgentOptions,
  SharedOptions,
  SourceAgentOptions,
  StreamRequest,
} from './agent-options.ts';
export type { IterableStream } from './iterable-stream.ts';
export type { PendingRun } from './pending-run.ts';
export { createRunHost } from './run-host.ts';
export type { CloseOptions, RunHost, RunHostOptions } from './run-host.ts';
export type { Run, UIMessageResponseOptions } from './run.ts';
export type { StoredRun } from './stored-run.ts';

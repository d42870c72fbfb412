export * from './agent-kinds.ts';
export type { AgentDefinition, AgentDetails, AgentKind, OnFrame } from '@intertie/core';
export { defineConfig, type IntertieConfig, type Limits, type Principal } from './config/config.ts';
export {
  createIntertie,
  type CloseIntertieOptions,
  type CreateIntertieOptions,
  type Intertie,
} from './create-intertie.ts';
export { demoModel, type DemoModelOptions } from './demo/demo-model.ts';
export { errors, type CatalogueEntry, type ErrorCode } from './errors/errors.ts';
export type { TrustProxy } from './net/client-address.ts';
export { IntertieError, type ErrorBody } from './errors/intertie-error.ts';
export { jsonLogger, type Logger, type LogFields, type LogLevel } from './telemetry/logger.ts';
export { serve, type ServedIntertie, type ServeOptions } from './serve.ts';

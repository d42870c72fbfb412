export { createJetStreamLog, type JetStreamLog, type JetStreamLogOptions } from './jetstream-log.ts';
export { createNatsHints, type NatsHintsOptions } from './nats-hints.ts';
export { nats, type NatsOptions } from './nats.ts';
export type { RunStreamOptions } from './run-streams.ts';

export type * from './agent-source.ts';
export type * from './event.ts';
export * from './codec.ts';
export type * from './message.ts';
export type * from './memory-store.ts';
export type * from './registry.ts';
export type * from './dialect.ts';

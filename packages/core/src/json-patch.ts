import type { Json } from './json.ts';

/** An operation of RFC 6902. */
export type Op =
  | { op: 'add' | 'replace' | 'test'; path: string; value: Json }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string };

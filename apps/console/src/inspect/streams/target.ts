import type { Protocol } from '@intertie/core';
import { formats } from '../../protocols.ts';

/** Protocol, in one of its versions, that the console encodes canonical events to. */
export type Target = { id: string; protocol: Protocol };

/** Targets of the menu: each protocol, followed by its other versions. The first one is the default. */
export const targets: readonly [Target, ...Target[]] = formats.flatMap((protocol) => {
  const [, ...others] = protocol.variants?.names ?? [];
  const toVersion = (name: string): Target => ({
    id: `${protocol.name}:${name}`,
    protocol: protocol.variants!.create(name),
  });
  return [{ id: protocol.name, protocol }].concat(others.map(toVersion));
}) as [Target, ...Target[]];

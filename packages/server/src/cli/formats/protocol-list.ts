import type { Protocol } from '@intertie/core';
import { protocols } from '../../protocols.ts';
import { nearest } from '../nearest.ts';
import { ToolError } from '../tool-error.ts';

/** Selected versions of protocols, by the option of their variants. */
export type SelectedVariants = { readonly [option: string]: string | undefined };

export interface ProtocolList {
  all: readonly Protocol[];
  /** Finds a protocol by name or alias. Throws a `ToolError` that suggests the nearest one. */
  find(name: string): Protocol;
}

/** Creates the list of a tool. Variants replace the default version of their protocol. */
export function createProtocolList(
  given: readonly Protocol[] = protocols,
  selected: SelectedVariants = {},
): ProtocolList {
  const all = given.map((protocol) => {
    const { variants } = protocol;
    const name = variants && selected[variants.option];
    return name === undefined ? protocol : variants!.create(name);
  });
  const byName = new Map(
    all.flatMap((protocol) => [protocol.name, ...(protocol.aliases ?? [])].map((name) => [name, protocol])),
  );
  return {
    all,
    find(name) {
      const found = byName.get(name.toLowerCase());
      if (found) return found;
      const near = nearest(name, [...byName.keys()]);
      const meant = near === undefined ? '' : ` Did you mean “${byName.get(near)!.name}”?`;
      throw new ToolError('usage', `Unknown protocol “${name}”.${meant}`, `Use one of ${listNames(all)}.`);
    },
  };
}

export const canRead = (protocol: Protocol): boolean => protocol.decoder !== undefined;
export const canWrite = (protocol: Protocol): boolean => protocol.encoder !== undefined;
const listNames = (list: readonly Protocol[]): string => list.map(({ name }) => name).join(', ');

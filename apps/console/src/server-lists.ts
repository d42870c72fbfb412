import { createItemClassifier, type ItemClassifier } from '@intertie/core/internal';
import { createContext } from 'react';
import type { KindInfo, ProtocolLists } from './api.ts';

/** Names of the server's protocols and agent kinds, for labels and filters. */
export type ServerLists = { getKind: (name: string) => KindInfo; items: ItemClassifier };

export function createServerLists({ protocols, agentKinds }: ProtocolLists): ServerLists {
  const kinds = new Map(agentKinds.map((kind) => [kind.name, kind]));
  return {
    getKind: (name) => kinds.get(name) ?? { name, title: name, description: name },
    items: createItemClassifier(protocols.map(({ items }) => items)),
  };
}

/** Lists until the server has answered. */
export const noLists: ServerLists = createServerLists({ protocols: [], agentKinds: [] });

export const ServerListsContext = createContext<ServerLists>(noLists);

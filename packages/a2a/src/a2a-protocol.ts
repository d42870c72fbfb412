import type { Protocol } from '@intertie/core';
import { asFields, asNonEmptyText, readItemTime, toRunIds } from '@intertie/core/internal';
import { a2aEndpoints } from './a2a-endpoints.ts';
import { createA2AChecker, readItem } from './check/a2a-checker.ts';
import { a2aRules } from './check/a2a-rules.ts';
import { a2aSource } from './client/a2a-source.ts';
import { createA2ADecoder } from './decode/decode-a2a.ts';
import { createA2AEncoder } from './encode/encode-a2a.ts';
import { isInterrupted, isTerminal, type A2AStreamItem } from './shared/a2a-types.ts';

const cardPath = '/.well-known/agent-card.json';

/** A2A: its rules, how it is detected, checked, decoded and encoded, and how its agents are reached. */
export const a2aProtocol: Protocol<A2AStreamItem> = {
  name: 'a2a',
  aliases: ['agent2agent'],
  label: 'A2A 1.0',
  title: 'A2A streams, as agents send them to other agents',
  framing: { mediaTypes: ['text/event-stream'] },
  rules: a2aRules,
  looksLike: (item) => readItem(item) !== undefined,
  getKind: (item) => readItem(item)?.kind ?? 'unknown',
  startsRun: (item) => readItem(item)?.kind === 'task',
  endsRun: (item) => {
    const { kind, value } = readItem(item) ?? {};
    const { state } = asFields(asFields(value).status);
    return kind === 'message' || isTerminal(state) || isInterrupted(state);
  },
  readRunIds: (item) => {
    const { kind, value } = readItem(item) ?? {};
    if (kind !== 'task' || !value) return {};
    const { id: messageId, contextId: threadId, status } = value;
    return toRunIds({ messageId, threadId, at: asFields(status).timestamp });
  },
  readTime: (item) => readItemTime(asFields(asFields(readItem(item)?.value).status).timestamp),
  checker: createA2AChecker,
  decoder: (run, onLoss) => createA2ADecoder(run, { onLoss }),
  encoder: (_run, onLoss) => createA2AEncoder({ onLoss }),
  items: {
    families: { run: ['task', 'statusUpdate'], text: ['artifactUpdate', 'message'] },
    deltas: ['artifactUpdate'],
  },
  client: {
    server: 'an A2A agent',
    matchesPath: (path) => /\/a2a(?:\/|$)/.test(path),
    createBody: ({ prompt, threadId, messageId }) => ({
      jsonrpc: '2.0',
      id: messageId,
      method: 'SendStreamingMessage',
      params: { message: { messageId, contextId: threadId, role: 'ROLE_USER', parts: [{ text: prompt }] } },
    }),
    // The specification allows the version as a parameter, too.
    getUrl: (url) => `${url}${url.includes('?') ? '&' : '?'}A2A-Version=1.0`,
    connect: ({ url, fetch, headers }) => a2aSource({ url, fetch, headers }),
    /** Recognizes an agent by its card, which needs no credentials. */
    async probe({ url, fetch, headers }) {
      const response = await fetch(`${url.replace(/\/$/, '')}${cardPath}`, { headers });
      const card: unknown = await response.json().catch(() => undefined);
      const { name, supportedInterfaces } = asFields(card);
      if (asNonEmptyText(name) === undefined || !Array.isArray(supportedInterfaces)) return undefined;
      const versions = supportedInterfaces.map((each) => String(asFields(each).protocolVersion));
      const isFine = versions.includes('1.0');
      const next = isFine ? {} : { next: 'Update the agent to A2A 1.0.' };
      return { isFine, found: `A2A agent "${String(name)}", versions ${[...new Set(versions)].join(', ')}`, ...next };
    },
  },
  endpoints: a2aEndpoints,
};

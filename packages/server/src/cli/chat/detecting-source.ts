import { agUiSource } from '@intertie/ag-ui';
import { compose, seal, sourceStream, type AgentSource, type CanonicalMessage } from '@intertie/core';
import { requestEndpoint, type EndpointOptions } from '../input/request-endpoint.ts';
import { createDialects, getDialectName } from '../formats/dialects.ts';
import type { KnownDialect } from '../formats/known-dialect.ts';
import { openStream } from '../input/open-stream.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import { uiMessageSource, type UIMessageSource } from './ui-message-source.ts';

/**
 * Source for an endpoint of unknown dialect. The first request is one that every dialect accepts; the response determines the
 * dialect of later requests.
 */
export function detectingSource(url: string, options: EndpointOptions, io: ToolIO): AgentSource {
  let known: (AgentSource & Partial<UIMessageSource>) | undefined;
  const { headers } = options;
  const selectDialect = (dialect: KnownDialect): void => {
    const connection = { url, fetch: io.fetch, ...(headers && { headers }) };
    if (getDialectName(dialect) === 'ui-message-stream') known = uiMessageSource(connection);
    else if (getDialectName(dialect) === 'ag-ui') known = agUiSource(connection);
    else throw new ToolError('unreadable', `${url} uses ${getDialectName(dialect)}, which does not support chats.`);
  };
  return {
    name: new URL(url).host,
    pauses: 'replay',
    run(run, control) {
      if (known) return known.run(run, control);
      // The decoder is known after the first item.
      let decoder: ReturnType<NonNullable<KnownDialect['dialect']['decoder']>> | undefined;
      const open = async function* (): AsyncGenerator {
        const request = { ...options, prompt: getLastText(run.history) };
        const input = await requestEndpoint(url, request, { ...io, signal: control.signal });
        const dialects = createDialects(7);
        const stream = await openStream(input.bytes, {
          dialects,
          dialect: input.dialect === undefined ? undefined : dialects.find(input.dialect),
        });
        selectDialect(stream.known);
        decoder = stream.known.dialect.decoder?.(run, () => undefined);
        for await (const batch of stream.batches) {
          for (const entry of batch) {
            if (entry.type !== 'item') continue;
            known?.recordIds?.(entry.item, run);
            yield entry.item;
          }
        }
      };
      const codec = compose(
        {
          feed: (item: unknown, emit) => decoder?.feed(item, emit),
          end: (end, emit) => decoder?.end(end, emit),
        },
        seal(run, () => undefined),
      );
      return sourceStream(() => open(), codec, { signal: control.signal });
    },
  };
}

function getLastText(history: readonly CanonicalMessage[]): string {
  const parts = history.at(-1)?.content.parts ?? [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

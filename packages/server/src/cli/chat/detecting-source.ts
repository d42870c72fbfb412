import { agUiSource } from '@intertie/ag-ui';
import { compose, seal, sourceStream, type AgentSource, type CanonicalMessage } from '@intertie/core';
import { askEndpoint, type EndpointOptions } from '../input/ask-endpoint.ts';
import { createDialects, getDialectName } from '../formats/dialects.ts';
import type { KnownDialect } from '../formats/known-dialect.ts';
import { openStream } from '../input/open-stream.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import { uiMessageSource, type UIMessageSource } from './ui-message-source.ts';

/**
 * An endpoint of which nobody has said what it speaks: the first message asks in a way that every kind understands, and from
 * its answer on it is known.
 */
export function guessingSource(url: string, options: EndpointOptions, io: ToolIO): AgentSource {
  let known: (AgentSource & Partial<UIMessageSource>) | undefined;
  const { headers } = options;
  const learn = (dialect: KnownDialect): void => {
    const more = { url, fetch: io.fetch, ...(headers && { headers }) };
    if (getDialectName(dialect) === 'ui-message-stream') known = uiMessageSource(more);
    else if (getDialectName(dialect) === 'ag-ui') known = agUiSource(more);
    else throw new ToolError('unreadable', `${url} speaks ${getDialectName(dialect)}, in which a chat cannot be held.`);
  };
  return {
    name: new URL(url).host,
    pauses: 'replay',
    run(run, control) {
      if (known) return known.run(run, control);
      // Which decoder it takes is known when the first item is.
      let decoder: ReturnType<NonNullable<KnownDialect['dialect']['decoder']>> | undefined;
      const open = async function* (): AsyncGenerator {
        const asked = { ...options, prompt: lastWords(run.history) };
        const input = await askEndpoint(url, asked, { ...io, signal: control.signal });
        const dialects = createDialects(7);
        const stream = await openStream(input.bytes, {
          dialects,
          dialect: input.dialect === undefined ? undefined : dialects.find(input.dialect),
        });
        learn(stream.known);
        decoder = stream.known.dialect.decoder?.(run, ignore);
        for await (const batch of stream.batches) {
          for (const entry of batch) {
            if (entry.type !== 'item') continue;
            known?.learn?.(entry.item, run);
            yield entry.item;
          }
        }
      };
      const codec = compose(
        {
          feed: (item: unknown, emit) => decoder?.feed(item, emit),
          end: (end, emit) => decoder?.end(end, emit),
        },
        seal(run, ignore),
      );
      return sourceStream(() => open(), codec, { signal: control.signal });
    },
  };
}

function ignore(): void {
  // A conversation shows what it is told.
}

function lastWords(history: readonly CanonicalMessage[]): string {
  const parts = history.at(-1)?.content.parts ?? [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

import { compose, seal, sourceStream, type AgentSource, type CanonicalMessage } from '@intertie/core';
import { requestEndpoint, type EndpointOptions } from '../input/request-endpoint.ts';
import { createProtocolList } from '../formats/protocol-list.ts';
import type { Protocol } from '@intertie/core';
import { openStream } from '../input/open-stream.ts';
import { ToolError } from '../tool-error.ts';
import type { ToolIO } from '../tool-io.ts';
import type { ConnectedSource } from '@intertie/core/internal';
import { protocols } from '../../protocols.ts';

/**
 * Source for an endpoint of unknown protocol. The first request is one that every protocol accepts; the response determines the
 * protocol of later requests.
 */
export function detectingSource(
  url: string,
  options: EndpointOptions & { protocols?: readonly Protocol[] | undefined },
  io: ToolIO,
): AgentSource {
  let known: ConnectedSource | undefined;
  const { headers = {}, protocols: list = protocols } = options;
  const selectProtocol = ({ name, client }: Protocol): void => {
    if (!client) throw new ToolError('unreadable', `${url} uses ${name}, which does not support chats.`);
    known = client.connect({ url, fetch: io.fetch, headers });
  };
  return {
    name: new URL(url).host,
    pauses: 'replay',
    run(run, control) {
      if (known) return known.run(run, control);
      // The decoder is known after the first item.
      let decoder: ReturnType<NonNullable<Protocol['decoder']>> | undefined;
      const open = async function* (): AsyncGenerator {
        const request = { ...options, prompt: getLastText(run.history) };
        const input = await requestEndpoint(url, request, { ...io, signal: control.signal }, list);
        const available = createProtocolList(list);
        const stream = await openStream(input.bytes, {
          protocols: available,
          protocol: input.protocol === undefined ? undefined : available.find(input.protocol),
        });
        selectProtocol(stream.known);
        decoder = stream.known.decoder?.(run, () => undefined);
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

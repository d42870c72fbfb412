import { compose, seal, sourceStream, type Protocol } from '@intertie/core';
import { asFields, asText, createDecodingChecker, decodingRules } from '@intertie/core/internal';

const isToy = (item: unknown): boolean => typeof asFields(item).toy === 'string';
const decoder: NonNullable<Protocol['decoder']> = ({ runId }) => {
  const id = `${runId}:text`;
  return {
    feed(item, emit) {
      const { toy, text } = asFields(item);
      if (toy === 'start') emit({ type: 'text-start', id });
      if (toy === 'text') emit({ type: 'text-delta', id, delta: asText(text) ?? '' });
      if (toy === 'end') emit({ type: 'run-end', outcome: 'complete' });
    },
    end() {},
  };
};

/** Complete protocol in one folder, for the tests of the lists. */
export const toyProtocol: Protocol = {
  name: 'toy',
  aliases: ['toyland'],
  label: 'Toy',
  title: 'the stream of a toy',
  framing: { mediaTypes: ['application/x-ndjson'] },
  rules: decodingRules,
  looksLike: isToy,
  getKind: (item) => asText(asFields(item).toy) ?? 'no toy',
  checker: () => createDecodingChecker('toy', isToy, decoder),
  decoder,
  encoder: () => ({
    feed(event, emit) {
      if (event.type === 'run-start') emit({ toy: 'start' });
      if (event.type === 'text-delta') emit({ toy: 'text', text: event.delta });
      if (event.type === 'run-end') emit({ toy: 'end' });
    },
    end() {},
  }),
  variants: {
    option: 'toy-size',
    description: 'size of the toy',
    names: ['small', 'large'],
    create: () => toyProtocol,
  },
  client: {
    server: 'a toy box',
    matchesPath: (path) => path.includes('toy'),
    createBody: ({ prompt }) => ({ toy: prompt }),
    connect: ({ url, fetch, headers }) => ({
      name: 'toy',
      pauses: 'replay',
      run: (run, { signal }) =>
        sourceStream(
          async function* () {
            const response = await fetch(url, { method: 'POST', headers, body: '{}', signal });
            for (const line of (await response.text()).trim().split('\n')) yield JSON.parse(line) as unknown;
          },
          compose(
            decoder(run, () => undefined),
            seal(run, () => undefined),
          ),
          { signal },
        ),
    }),
    probe: async ({ url, fetch }) => {
      const response = await fetch(url);
      return response.headers.has('x-toy') ? { isFine: true, found: 'a box of toys' } : undefined;
    },
  },
};

import {
  compose,
  seal,
  serveDurableRun,
  sourceStream,
  type AgentEvent,
  type Codec,
  type Protocol,
} from '@intertie/core';
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

const encoder: Codec<AgentEvent, unknown> = {
  feed(event, emit) {
    if (event.type === 'run-start') emit({ toy: 'start' });
    if (event.type === 'text-delta') emit({ toy: 'text', text: event.delta });
    if (event.type === 'run-end') emit({ toy: 'end' });
  },
  end() {},
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
  encoder: () => encoder,
  items: { families: { run: ['start', 'end'], text: ['text'] }, deltas: ['text'] },
  messages: { format: 'toy', encode: (messages) => messages.map(({ role }) => ({ toy: role })) },
  examples: { chat: [['intertie chat http://localhost/toy', 'A box of toys:']] },
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
  endpoints: {
    routes: [
      {
        method: 'POST',
        path: '/api/agents/{agent}/toy',
        summary: 'Runs the agent and streams toys.',
        answers: { 200: 'sse' },
      },
    ],
    createHandler:
      async () =>
      async ({ request, agent, by }) => {
        const { toy: text, thread: threadId } = (await request.json()) as { toy: string; thread: string };
        const message = { content: { format: 2 as const, parts: [{ type: 'text' as const, text }] } };
        const served = await serveDurableRun(agent.agent, { type: 'start', request: { threadId, message } }, { by });
        const lines: string[] = [];
        for await (const followed of served.follow()) {
          const events = followed.type === 'events' ? followed.events : [];
          for (const event of events)
            encoder.feed(event, (item) => void lines.push(`data: ${JSON.stringify(item)}\n\n`));
        }
        return new Response(lines.join(''), { headers: { 'content-type': 'text/event-stream' } });
      },
  },
};

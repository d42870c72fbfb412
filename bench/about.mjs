// @ts-check

/**
 * Introductions of the suites, in the order of the page. Figures are in the tables, not here.
 * @type {Record<string, string>}
 */
export const about = {
  'end-to-end':
    'A complete turn over HTTP, with client, server and database in separate processes. Ours is `intertie` with a token, which commits every event before it sends it, to PGlite or to a Postgres server. The peers store less: the plain route nothing, CopilotKit the events in memory, `resumable-stream` the bytes in memory with notifications through Redis. We lose on the first word, which waits for a commit. Memory is that of the server process without the database.',
  agent:
    'The same model behind `Agent`, which commits every event before delivery, and behind plain `streamText`, which stores nothing. One process, no network. Ratios above 1× come from merging small deltas of one text, so fewer events are written.',
  'ai-sdk':
    'Validating, reading and writing AI SDK chunks, compared with the schema, the parser and the response of the AI SDK.',
  'ag-ui':
    'From the parts of `streamText` to AG-UI events, and to the bytes of the response, next to CopilotKit’s converter. "Codecs alone" is the translation without streams, fed from a list. The other rows read a stream and hand each event to a loop. On `streamText`, the last rows, nearly all of the time is spent in `streamText` itself, so both sides are level. The rows on a prepared list exaggerate the cost of streams: no model delivers its parts that fast. They are recorded without a target.',
  openai:
    'The same model as a stream of the OpenAI Responses API and as the UI message stream of the AI SDK: CPU time from the model to the bytes of the client, and the size of these bytes. Both sides run in one process, without HTTP and without a log, so the row compares only the encoders; [end-to-end](#end-to-end) has the cost of a stored run. The format of OpenAI is four times as large, because every event repeats the id of its item, its indexes and its number, which no encoder can change.',
  mail: 'Recorded MAIL 1.3 streams, from bytes to language model parts. The peer parses the events without interpreting them; the target is half of its speed.',
  core: 'The fold from events to messages: a snapshot after every delta, with its length and last delta, and the complete text every 16 ms, as a page reads it. The peer builds a new message for every chunk, so its cost grows with the length of the text. Where the peer would take minutes, the growth shows the cost per event of a long run relative to a short one.',
  postgres:
    'Saving and reading conversations, compared with `@mastra/pg` on the same server with durable commits: on loopback, and through a proxy that adds one millisecond each way, where round trips count. The bare insert is the floor: rows with an id, a text and a key that cannot be paged, followed or saved twice. The messages are generated and compress like prose. The last row is the time from an event to its commit, with many runs at once.',
  cli: 'The tools on a piped AG-UI stream, in a separate process. No peer does the same; parsing the events without interpreting them is the floor. Memory must not grow with the input.',
};

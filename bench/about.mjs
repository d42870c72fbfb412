// @ts-check

/**
 * What is measured in each suite, in the order of the page, and what to keep in mind when reading it. Figures are not said here: they are in the tables.
 * @type {Record<string, string>}
 */
export const about = {
  'end-to-end':
    'A whole turn over HTTP: client, server and database are processes of their own. Ours is `intertie` with a token, which commits every event before it sends it, in an embedded database (PGlite) and on a Postgres server. The peers keep less: the plain route nothing, CopilotKit the events in memory, `resumable-stream` the bytes in memory with Redis to announce them. So this is the price of keeping everything, and we lose where there is nothing else to pay for: the first word waits for a commit. The memory is that of the server’s process, without the database’s.',
  agent:
    'The same model behind `Agent`, which commits every event before anybody sees it, and behind `streamText` alone, which keeps nothing. All in one process, without a network; `end-to-end` has one. A row above 1× is no magic: small pieces of one text are joined in the log, so there is less to write.',
  'ai-sdk':
    'Checking, reading and writing the chunks of the AI SDK. The peer is the AI SDK itself: its schema, its parser, its response.',
  'ag-ui':
    'From the parts of `streamText` to AG-UI events, and to the bytes of the response, next to CopilotKit’s converter. "Codecs alone" is the translation without streams, fed from a list. The other rows read a stream and hand each event to a loop. On `streamText`, the last rows, nearly all of the time is spent in `streamText` itself, so both sides are level. The rows on a prepared list exaggerate the cost of streams: no model delivers its parts that fast. They are recorded, and nothing is required of them. Every process runs as a server does after a while: with a grown heap, and an allocator that keeps freed memory.',
  mail: 'Recorded streams of MAIL 1.3, from bytes to the parts of a language model. The peer only parses the events and does not interpret them; the target is half of its speed.',
  core: 'The fold, which makes messages of events, read the way a page reads it. The peer builds a new message for every chunk, so its cost grows with the length of the text; the fold is asked for snapshots that share what has not changed. Where it would take minutes there is the growth instead: what each event costs in a long run, by what it costs in a short one.',
  postgres:
    'Saving and reading conversations beside `@mastra/pg`, on the same server with its own settings: what is committed is on the disk. Once on loopback, and once through a proxy that takes a millisecond each way, where the number of round trips counts. The bare insert is no peer but the floor: rows with an id, a text and a key, which nobody could page, follow or save twice. The messages are made up, and compress as prose does. The last row is the log of many runs at once: how long an event takes to be durable.',
  cli: 'The tools on a stream that is piped in, in a process of their own. There is no peer that does the same; parsing the events and understanding none is the floor. What matters is that the memory does not follow the size of the input.',
};

/** What the server, the command line and the console can refuse, with what to do about it. A code is a promise. */
export type CatalogueEntry = {
  status: number;
  /** In a few words. */
  title: string;
  cause: string;
  fix: string;
};

/** Stable: programs act on it. */
export type ErrorCode =
  | 'bad-request'
  | 'bad-json'
  | 'bad-id'
  | 'unauthorized'
  | 'host-not-allowed'
  | 'origin-not-allowed'
  | 'loopback-only'
  | 'operators-only'
  | 'not-found'
  | 'no-agent'
  | 'no-topology'
  | 'no-thread'
  | 'no-message'
  | 'no-run'
  | 'no-frames'
  | 'no-blob'
  | 'method-not-allowed'
  | 'busy'
  | 'pending'
  | 'run-exists'
  | 'nothing-to-continue'
  | 'already-answered'
  | 'cancelled'
  | 'expired'
  | 'version-conflict'
  | 'content-conflict'
  | 'agent-gone'
  | 'log-dropped'
  | 'cursor-gone'
  | 'too-large'
  | 'json-too-large'
  | 'json-too-deep'
  | 'too-many-messages'
  | 'too-many-parts'
  | 'bad-range'
  | 'key-reused'
  | 'queue-full'
  | 'too-many-requests'
  | 'too-many-streams'
  | 'internal'
  | 'runtime-failed'
  | 'closing'
  | 'overloaded'
  | 'database-away'
  | 'bad-config'
  | 'no-config'
  | 'token-required'
  | 'port-taken';

export const errors: { readonly [code in ErrorCode]: CatalogueEntry } = {
  'bad-request': {
    status: 400,
    title: 'The request cannot be understood',
    cause: 'A parameter or a field of the body has the wrong type or a value that makes no sense here.',
    fix: 'The message names the field. Correct it, and send the request again.',
  },
  'bad-json': {
    status: 400,
    title: 'The body is no JSON',
    cause: 'The body of the request is not valid JSON in UTF-8.',
    fix: 'Send JSON with `content-type: application/json`, for example with `JSON.stringify`.',
  },
  'bad-id': {
    status: 400,
    title: 'An id cannot be stored',
    cause:
      'Ids of threads, runs and messages are text of 1 to 256 bytes without NUL and without half a surrogate pair.',
    fix: 'Use a UUID, or any short text.',
  },
  unauthorized: {
    status: 401,
    title: 'The request says not who it is from',
    cause: 'The server has a token or an `auth` function, and the request has no credentials that it takes.',
    fix: 'Send `Authorization: Bearer <token>`, or open the page once with `?token=<token>`.',
  },
  'host-not-allowed': {
    status: 403,
    title: 'The server does not answer to this host name',
    cause:
      'Without a token the server answers on this machine only, and to its own names only, so that no page on the web can reach it by a name of its own (DNS rebinding).',
    fix: 'Use http://127.0.0.1 or http://localhost. To be reached by others, set a token (`INTERTIE_TOKEN`) or `auth`, and the name in `hosts`.',
  },
  'origin-not-allowed': {
    status: 403,
    title: 'Pages of this origin may not use the server',
    cause: 'The request comes from a page of another origin, and CORS is closed until it is opened.',
    fix: "Add the origin to the configuration: `cors: ['https://app.example.com']`. Or serve the page from the same origin.",
  },
  'loopback-only': {
    status: 403,
    title: 'This is for development on the same machine only',
    cause: 'The route shows or does what only a developer at the machine should, and the server is open to others.',
    fix: 'Start the server on loopback without a token.',
  },
  'operators-only': {
    status: 403,
    title: 'Only operators may read this',
    cause: 'Metrics cover all users, and the `auth` function does not mark this principal as an operator.',
    fix: 'Return `operator: true` from `auth` for the program that collects metrics, or send the server’s `token`.',
  },
  'not-found': {
    status: 404,
    title: 'There is no such thing here',
    cause: 'The path is none of the server’s, or what it names does not exist or belongs to somebody else.',
    fix: 'Check the path. `GET /api/openapi.json` lists all of them.',
  },
  'no-agent': {
    status: 404,
    title: 'There is no agent of that name',
    cause: 'The path names an agent that is not in the configuration.',
    fix: '`GET /api/agents` lists those that are.',
  },
  'no-topology': {
    status: 404,
    title: 'The agent has no topology',
    cause: 'The runtime behind this agent does not say what it is made of.',
    fix: 'Nothing to do: `hasTopology` of `GET /api/agents` says which have one.',
  },
  'no-thread': {
    status: 404,
    title: 'There is no such thread',
    cause: 'The thread does not exist, was deleted, or belongs to somebody else.',
    fix: '`GET /api/threads` lists yours. A thread is made by its first message.',
  },
  'no-message': {
    status: 404,
    title: 'There is no such message in this thread',
    cause: 'The message does not exist or was deleted.',
    fix: '`GET /api/threads/<thread>/tree` lists all messages of a thread.',
  },
  'no-run': {
    status: 404,
    title: 'There is no such run',
    cause: 'The run does not exist, its thread was deleted, or it belongs to somebody else.',
    fix: '`GET /api/threads/<thread>/runs` lists the runs of a thread.',
  },
  'no-frames': {
    status: 404,
    title: 'No frames are kept of this run',
    cause: 'The frames of a runtime are kept in memory, for the last runs of this process, on loopback only.',
    fix: 'Run it again and look while the server is up, or record a tape with `intertie record`.',
  },
  'no-blob': {
    status: 404,
    title: 'There is no such file',
    cause: 'The file was never sent, was cleaned up because no message uses it, or belongs to somebody else.',
    fix: 'Send it again with `POST /api/blobs`.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The path does not take this method',
    cause: 'The path exists, and the method is none of those that it takes.',
    fix: 'The header `allow` lists those that it takes.',
  },
  busy: {
    status: 409,
    title: 'A run of this thread is under way',
    cause: 'A thread has one live run, and the request asked to be refused meanwhile.',
    fix: 'Wait for it, stop it, or ask with `busy: "queue"` or `"replace"`.',
  },
  pending: {
    status: 409,
    title: 'The last answer waits for a decision',
    cause: 'The message before asks something that nobody has answered yet.',
    fix: 'Answer it (`GET /api/questions`), or write a message that supersedes it.',
  },
  'run-exists': {
    status: 409,
    title: 'The thread has a run of this id',
    cause: 'Run ids are the client’s, and this one was used for another request.',
    fix: 'Use another id, or none.',
  },
  'nothing-to-continue': {
    status: 409,
    title: 'There is nothing to go on with',
    cause: 'The last message is an answer, nothing new was said, and no run is live.',
    fix: 'Send a new message, or ask to regenerate.',
  },
  'already-answered': {
    status: 409,
    title: 'Somebody has answered otherwise',
    cause: 'A question is answered once, and another answer came before this one.',
    fix: 'Read the thread again: the message has the answer that counts, and what came of it.',
  },
  cancelled: {
    status: 409,
    title: 'The question is not asked any more',
    cause: 'A new message took its place, or the run was stopped.',
    fix: 'Read the thread again, and go on from its last message.',
  },
  expired: {
    status: 409,
    title: 'The time to answer is over',
    cause: 'The question had an end, and it has passed.',
    fix: 'Ask again with a new message.',
  },
  'version-conflict': {
    status: 409,
    title: 'The thread has changed meanwhile',
    cause: 'Somebody else has written to the thread since it was read.',
    fix: 'Read it again and repeat the change.',
  },
  'content-conflict': {
    status: 409,
    title: 'Message text differs',
    cause: 'A message with this id is stored, and its new text neither extends the stored text nor is a prefix of it.',
    fix: "Save an edit under a new id, or replace the content with `mode: 'replace'` and `expectedVersion`.",
  },
  'agent-gone': {
    status: 409,
    title: 'The agent of this run is not configured any more',
    cause: 'The run was started by an agent that this server does not have.',
    fix: 'Add the agent to the configuration again, under the same name.',
  },
  'log-dropped': {
    status: 410,
    title: 'The events of the run are not kept any more',
    cause: 'The log of a run is dropped some time after its end; its message stays.',
    fix: 'Read the message: `GET /api/threads/<thread>/messages`.',
  },
  'cursor-gone': {
    status: 410,
    title: 'This is no place of the log',
    cause: 'The run was taken over after the place that the cursor names, or the cursor is of another run.',
    fix: 'Read from the beginning (`offset=-1`).',
  },
  'too-large': {
    status: 413,
    title: 'The body is too long',
    cause: 'The body is longer than the limit for this path.',
    fix: 'Send less, send files with `POST /api/blobs`, or raise `limits.bodyBytes` in the configuration.',
  },
  'json-too-large': {
    status: 413,
    title: 'JSON too large',
    cause: 'The JSON of the body is longer than `limits.jsonBytes`. The base64 data of files does not count.',
    fix: 'Send the new message only: the server stores the thread. Or raise `limits.jsonBytes` in the configuration.',
  },
  'json-too-deep': {
    status: 400,
    title: 'JSON too deep',
    cause: 'The arrays and objects of the body nest deeper than `limits.jsonDepth`.',
    fix: 'Send flatter JSON, or raise `limits.jsonDepth` in the configuration.',
  },
  'too-many-messages': {
    status: 413,
    title: 'Too many messages',
    cause: 'The request has more messages than `limits.messages`.',
    fix: 'Send the new message only: the server stores the thread. Or raise `limits.messages` in the configuration.',
  },
  'too-many-parts': {
    status: 413,
    title: 'Too many message parts',
    cause: 'The messages of the request have more parts than `limits.parts`.',
    fix: 'Send the new message only: the server stores the thread. Or raise `limits.parts` in the configuration.',
  },
  'bad-range': {
    status: 416,
    title: 'There are no such bytes in the file',
    cause: 'The header `range` asks for bytes behind the end of the file.',
    fix: 'Ask for bytes that are there; `content-range` of the answer says how many there are.',
  },
  'key-reused': {
    status: 422,
    title: 'The idempotency key was used for another request',
    cause: 'The same key came with another body before.',
    fix: 'Use a key of its own for each request.',
  },
  'queue-full': {
    status: 429,
    title: 'Too many runs wait for this thread',
    cause: 'Runs that wait for a busy thread are limited.',
    fix: 'Wait until some have ended, or stop them.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    cause: 'One client has sent more requests than the limit allows.',
    fix: 'Wait as long as `retry-after` says, or raise `limits.requestsPerSecond` in the configuration.',
  },
  'too-many-streams': {
    status: 429,
    title: 'Too many open streams',
    cause: 'One client, or all together, hold as many connections open as may be.',
    fix: 'Close some, or raise `limits.streams` in the configuration.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong in the server',
    cause: 'A failure that nobody foresaw. The log of the server has it, under the id of the request.',
    fix: 'Look for the request id in the log. If it happens again, report it with what the log says.',
  },
  'runtime-failed': {
    status: 502,
    title: 'The runtime behind the agent did not answer',
    cause: 'The server of the swarm, of the flow or of the agent is not there, or refused.',
    fix: 'Run `intertie doctor`: it says what answers and what the next step is.',
  },
  closing: {
    status: 503,
    title: 'The server is being shut down',
    cause: 'The process takes no new runs while it waits for those that are under way.',
    fix: 'Try again in a moment: another process answers, or this one after its restart.',
  },
  overloaded: {
    status: 503,
    title: 'The server is overloaded',
    cause:
      'The process executes as many runs as `limits.runs` allows, or its event loop was delayed by more than `limits.eventLoopDelayMs` for two seconds. It takes no new runs. Reading, stopping and answering still work.',
    fix: 'Try again after the number of seconds in `retry-after`. If it happens often, add a process or raise the limit in the configuration.',
  },
  'database-away': {
    status: 503,
    title: 'The database does not answer',
    cause: 'The database cannot be reached, does not answer in time, or refuses writes, for example on a full disk.',
    fix: 'Run `intertie doctor` to test the connection. A run that is prepared or asks a question waits up to `maxOutageMs` and then ends with this code: start it again.',
  },
  'bad-config': {
    status: 500,
    title: 'The configuration is not right',
    cause: 'A field of `intertie.config.ts` has the wrong type, or something is missing.',
    fix: 'The message names the field and what it takes.',
  },
  'no-config': {
    status: 500,
    title: 'The configuration file cannot be read',
    cause: 'The file is not there, or failed while it was loaded.',
    fix: 'The message says why. `intertie init` writes one that works.',
  },
  'token-required': {
    status: 500,
    title: 'A token is required on this address',
    cause:
      'The server was asked to listen on an address that others can reach, or it runs in production where it cannot tell where a request comes from, without a token and without `auth`.',
    fix: 'Set `INTERTIE_TOKEN` (or `token`, or `auth` in the configuration), or listen on 127.0.0.1.',
  },
  'port-taken': {
    status: 500,
    title: 'The port is taken',
    cause: 'Another program listens on this port.',
    fix: 'Stop that program, or choose another port with `--port`.',
  },
};

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errors, code);
}

/** The page about a code, in Markdown. */
export function errorPage(code: ErrorCode): string {
  const { status, title, cause, fix } = errors[code];
  return `# \`${code}\`\n\n${title}. HTTP status ${status}.\n\n## Cause\n\n${cause}\n\n## Fix\n\n${fix}\n`;
}

/** One error of the catalogue. Each one has a page in docs/errors, which `errors.test.ts` generates. */
export type CatalogueEntry = {
  /** HTTP status. */
  status: number;
  /** At most five words, without a period. */
  title: string;
  cause: string;
  fix: string;
};

/** Identifies an error to programs. Codes never change. */
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
  | 'no-model-calls'
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
  | 'lost'
  | 'too-many-attempts'
  | 'closing'
  | 'overloaded'
  | 'database-away'
  | 'bad-config'
  | 'no-config'
  | 'token-required'
  | 'port-taken';

/** Every error of the server, the command line and the console. Codes are stable; texts may change. */
export const errors: { readonly [code in ErrorCode]: CatalogueEntry } = {
  'bad-request': {
    status: 400,
    title: 'Invalid request',
    cause: 'A parameter or a field of the body has the wrong type or an invalid value.',
    fix: 'Correct the field that the message names, and send the request again.',
  },
  'bad-json': {
    status: 400,
    title: 'Invalid JSON body',
    cause: 'The body of the request is not valid JSON in UTF-8.',
    fix: 'Send JSON with `content-type: application/json`, for example with `JSON.stringify`.',
  },
  'bad-id': {
    status: 400,
    title: 'Invalid id',
    cause: 'Ids of threads, runs and messages must have 1 to 256 bytes, without NUL and without lone surrogates.',
    fix: 'Use a UUID or another short text.',
  },
  unauthorized: {
    status: 401,
    title: 'Authentication required',
    cause: 'The server has a token or an `auth` function, and the request has no valid credentials.',
    fix: 'Send `Authorization: Bearer <token>`, or open the page once with `?token=<token>`.',
  },
  'host-not-allowed': {
    status: 403,
    title: 'Host name not allowed',
    cause:
      'Without a token the server accepts only local requests for the host names of this machine, which protects it against DNS rebinding.',
    fix: 'Use http://127.0.0.1 or http://localhost. For remote access, set a token (`INTERTIE_TOKEN`) or `auth`, and add the host name to `hosts`.',
  },
  'origin-not-allowed': {
    status: 403,
    title: 'Origin not allowed',
    cause: 'The request comes from a page of another origin, and CORS does not allow this origin.',
    fix: "Add the origin to the configuration, for example `cors: ['https://app.example.com']`, or serve the page from the same origin.",
  },
  'loopback-only': {
    status: 403,
    title: 'Available on loopback only',
    cause: 'The route is for local development, and the server accepts remote requests.',
    fix: 'Start the server on loopback without a token.',
  },
  'operators-only': {
    status: 403,
    title: 'Operator access required',
    cause:
      'Metrics and recorded prompts cover all users, and the `auth` function does not mark this principal as an operator.',
    fix: 'Return `operator: true` from `auth` for this principal, or send the server’s `token`.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    cause: 'The server has no such path, or the resource does not exist or belongs to another user.',
    fix: 'Check the path. `GET /api/openapi.json` lists all paths.',
  },
  'no-agent': {
    status: 404,
    title: 'Agent not found',
    cause: 'The path names an agent that is not in the configuration.',
    fix: 'Use an agent from `GET /api/agents`.',
  },
  'no-topology': {
    status: 404,
    title: 'Agent has no topology',
    cause: 'The runtime behind this agent does not describe its agents or nodes.',
    fix: 'Check `hasTopology` in `GET /api/agents` before requesting a topology.',
  },
  'no-thread': {
    status: 404,
    title: 'Thread not found',
    cause: 'The thread does not exist, was deleted, or belongs to another user.',
    fix: 'Use a thread from `GET /api/threads`. The first message creates a thread.',
  },
  'no-message': {
    status: 404,
    title: 'Message not found',
    cause: 'The message does not exist or was deleted.',
    fix: 'Use a message from `GET /api/threads/<thread>/tree`.',
  },
  'no-run': {
    status: 404,
    title: 'Run not found',
    cause: 'The run does not exist, its thread was deleted, or it belongs to another user.',
    fix: 'Use a run from `GET /api/threads/<thread>/runs`.',
  },
  'no-frames': {
    status: 404,
    title: 'Frames not available',
    cause: 'Frames of a runtime are held in memory for the latest runs of this process, on loopback only.',
    fix: 'Repeat the run while the server is up, or record a tape with `intertie record`.',
  },
  'no-model-calls': {
    status: 404,
    title: 'Model calls not available',
    cause: 'Model calls are held in memory for the latest runs of this process, on loopback or with `recordPrompts`.',
    fix: 'Set `recordPrompts: true` in the configuration, and repeat the run while the server is up.',
  },
  'no-blob': {
    status: 404,
    title: 'File not found',
    cause: 'The file was never uploaded, was removed because no message uses it, or belongs to another user.',
    fix: 'Upload it with `POST /api/blobs`.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    cause: 'The path exists, but does not support this method.',
    fix: 'Use a method from the `allow` header.',
  },
  busy: {
    status: 409,
    title: 'Thread has a live run',
    cause: 'A thread has one live run, and the request did not allow queueing or replacing it.',
    fix: 'Wait for the run, stop it, or send `busy: "queue"` or `"replace"`.',
  },
  pending: {
    status: 409,
    title: 'Question not answered',
    cause: 'The previous message contains a question without an answer.',
    fix: 'Answer it (`GET /api/questions`), or send a message that supersedes it.',
  },
  'run-exists': {
    status: 409,
    title: 'Run id already used',
    cause: 'The client chose a run id that it used for another request of this thread.',
    fix: 'Use a new id, or omit it.',
  },
  'nothing-to-continue': {
    status: 409,
    title: 'Nothing to continue',
    cause: 'The last message is an answer, the request has no new message, and no run is live.',
    fix: 'Send a new message, or regenerate the answer.',
  },
  'already-answered': {
    status: 409,
    title: 'Question already answered',
    cause: 'The first answer to a question counts, and a different answer was recorded before this one.',
    fix: 'Reload the thread to see the recorded answer and its effect.',
  },
  cancelled: {
    status: 409,
    title: 'Question cancelled',
    cause: 'A new message superseded the question, or the run was stopped.',
    fix: 'Reload the thread and continue from its last message.',
  },
  expired: {
    status: 409,
    title: 'Question expired',
    cause: 'The time limit of the question has passed.',
    fix: 'Send a new message.',
  },
  'version-conflict': {
    status: 409,
    title: 'Thread version conflict',
    cause: 'Another client has written to the thread since it was read.',
    fix: 'Reload the thread and repeat the change.',
  },
  'content-conflict': {
    status: 409,
    title: 'Message text differs',
    cause: 'A message with this id is stored, and its new text neither extends the stored text nor is a prefix of it.',
    fix: "Save an edit under a new id, or replace the content with `mode: 'replace'` and `expectedVersion`.",
  },
  'agent-gone': {
    status: 409,
    title: 'Agent no longer configured',
    cause:
      'The run was started by an agent that this server does not have. A run whose process died ends with this code if no process has its agent for one minute.',
    fix: 'Add the agent to the configuration again, under the same name.',
  },
  'log-dropped': {
    status: 410,
    title: 'Run log expired',
    cause: 'The log of a run is dropped some time after its end. Its message stays.',
    fix: 'Read the message: `GET /api/threads/<thread>/messages`.',
  },
  'cursor-gone': {
    status: 410,
    title: 'Invalid cursor',
    cause: 'The run was taken over after the position of the cursor, or the cursor belongs to another run.',
    fix: 'Read from the beginning (`offset=-1`).',
  },
  'too-large': {
    status: 413,
    title: 'Body too large',
    cause: 'The body exceeds the limit of this path.',
    fix: 'Send less, upload files with `POST /api/blobs`, or raise `limits.bodyBytes` in the configuration.',
  },
  'json-too-large': {
    status: 413,
    title: 'JSON too large',
    cause: 'The JSON of the body exceeds `limits.jsonBytes`. The base64 data of files does not count.',
    fix: 'Send only the new message, since the server stores the thread, or raise `limits.jsonBytes` in the configuration.',
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
    fix: 'Send only the new message, since the server stores the thread, or raise `limits.messages` in the configuration.',
  },
  'too-many-parts': {
    status: 413,
    title: 'Too many message parts',
    cause: 'The messages of the request have more parts than `limits.parts`.',
    fix: 'Send only the new message, since the server stores the thread, or raise `limits.parts` in the configuration.',
  },
  'bad-range': {
    status: 416,
    title: 'Range not satisfiable',
    cause: 'The `range` header requests bytes beyond the end of the file.',
    fix: 'Request bytes within the size in the `content-range` header of the response.',
  },
  'key-reused': {
    status: 422,
    title: 'Idempotency key reused',
    cause: 'The same key was sent before with another body.',
    fix: 'Use a new key for each request.',
  },
  'queue-full': {
    status: 429,
    title: 'Thread queue is full',
    cause: 'The number of runs that wait for a busy thread is limited.',
    fix: 'Wait until some have ended, or stop them.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    cause: 'The client has sent more requests than the limit allows.',
    fix: 'Wait for the time in `retry-after`, or raise `limits.requestsPerSecond` in the configuration.',
  },
  'too-many-streams': {
    status: 429,
    title: 'Too many open streams',
    cause: 'This client, or all clients together, have reached the limit of open streams.',
    fix: 'Close some streams, or raise `limits.streams` in the configuration.',
  },
  internal: {
    status: 500,
    title: 'Internal server error',
    cause: 'An unexpected failure. The server log contains it, under the id of the request.',
    fix: 'Look for the request id in the log. If the error repeats, report it with the log entry.',
  },
  'runtime-failed': {
    status: 502,
    title: 'Runtime did not answer',
    cause: 'The server of the swarm, the flow or the agent is unreachable or refused the request.',
    fix: 'Run `intertie doctor` to see which runtime fails and the next step.',
  },
  lost: {
    status: 502,
    title: 'Process of the run died',
    cause:
      'The process that executed the run died, and the run cannot continue in another process. The output so far is kept.',
    fix: "Send the message again. A run of a model continues if its agent has `recover: 'step'`.",
  },
  'too-many-attempts': {
    status: 502,
    title: 'Too many attempts',
    cause:
      'The processes that executed the run died `maxAttempts` times (default: 3), whichever run was the cause. The output so far is kept.',
    fix: 'Look for the cause in the logs of those processes, then send the message again.',
  },
  closing: {
    status: 503,
    title: 'Server is shutting down',
    cause:
      'The process accepts no new runs while it waits for running ones to end. Then it breaks streams and requests that still wait: a run that can continue does so in another process.',
    fix: 'Retry in a moment: another process answers, or this one after its restart. A retried OpenAI request starts another run unless it has an `Idempotency-Key`.',
  },
  overloaded: {
    status: 503,
    title: 'Server is overloaded',
    cause:
      'The process executes as many runs as `limits.runs` allows, or its event loop was delayed by more than `limits.eventLoopDelayMs` for two seconds. It accepts no new runs. Reading, stopping and answering still work.',
    fix: 'Retry after the number of seconds in `retry-after`. If it happens often, add a process or raise the limit in the configuration.',
  },
  'database-away': {
    status: 503,
    title: 'Database not available',
    cause: 'The database is unreachable, does not answer in time, or refuses writes, for example on a full disk.',
    fix: 'Run `intertie doctor` to test the connection. A run that is being prepared or asks a question waits up to `maxOutageMs` and then ends with this code: start it again.',
  },
  'bad-config': {
    status: 500,
    title: 'Invalid configuration',
    cause: 'A field of `intertie.config.ts` has the wrong type, or a required field is missing.',
    fix: 'Correct the field that the message names.',
  },
  'no-config': {
    status: 500,
    title: 'Configuration not readable',
    cause: 'The file does not exist, or failed while it was loaded. The message has the reason.',
    fix: 'Correct the file, or create a working one with `intertie init`.',
  },
  'token-required': {
    status: 500,
    title: 'Token required',
    cause:
      'The server should listen on an address that other machines can reach, or runs in production and cannot determine the origin of a request, without a token and without `auth`.',
    fix: 'Set `INTERTIE_TOKEN` (or `token` or `auth` in the configuration), or listen on 127.0.0.1.',
  },
  'port-taken': {
    status: 500,
    title: 'Port already in use',
    cause: 'Another program listens on this port.',
    fix: 'Stop that program, or choose another port with `--port`.',
  },
};

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errors, code);
}

/** Renders the Markdown page of a code. */
export function errorPage(code: ErrorCode): string {
  const { status, title, cause, fix } = errors[code];
  return `# \`${code}\`\n\n${title}. HTTP status ${status}.\n\n## Cause\n\n${cause}\n\n## Fix\n\n${fix}\n`;
}

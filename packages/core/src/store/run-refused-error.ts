import type { AnswerVerdict, Decision, RunRecord } from './registry.ts';

export type RunRefusal =
  /** Another run of the thread is live, and `busy` is `reject`. */
  | { code: 'busy'; live: RunRecord }
  /** The thread has the maximum number of queued runs. */
  | { code: 'queue-full'; live: RunRecord }
  /** The preceding answer waits for decisions, and `pending` is `reject`. */
  | { code: 'pending'; decisions: Decision[] }
  /** The idempotency key was used for another request. */
  | { code: 'key-reused'; run: RunRecord | null }
  /** The run id is already used in this thread. */
  | { code: 'run-exists'; run: RunRecord }
  /** Also returned for objects of another scope. */
  | { code: 'not-found'; what: 'thread' | 'parent' | 'run' | 'message'; threadId?: string; id?: string }
  /** The question has a different answer. */
  | { code: 'already-answered'; verdict: Extract<AnswerVerdict, { result: 'conflict' }> }
  /** The questions can no longer be answered. */
  | { code: 'expired' | 'cancelled'; ids: readonly string[] }
  /** No live run writes the message, and the request has no answers for it. */
  | { code: 'nothing-to-continue'; messageId: string }
  /** The process is shutting down: it starts no runs, and its readers continue in another process. */
  | { code: 'closing' }
  /** The process is overloaded and accepts no new runs for the moment. */
  | { code: 'overloaded' };

/** Reports that a run was not started, joined, answered, stopped or read to its end. Programs act on `code`. */
export class RunRefusedError extends Error {
  override readonly name = 'RunRefusedError';
  readonly refusal: RunRefusal;

  constructor(refusal: RunRefusal) {
    super(explain(refusal));
    this.refusal = refusal;
  }

  get code(): RunRefusal['code'] {
    return this.refusal.code;
  }

  /** HTTP status of the refusal. */
  get status(): number {
    return statuses[this.code];
  }

  /** Seconds after which the same request may succeed, for the `Retry-After` header. Undefined: waiting does not help. */
  get retryAfter(): number | undefined {
    return retryAfter[this.code];
  }
}

const statuses: { readonly [Code in RunRefusal['code']]: number } = {
  busy: 409,
  'queue-full': 429,
  pending: 409,
  'key-reused': 422,
  'run-exists': 409,
  'not-found': 404,
  'already-answered': 409,
  expired: 409,
  cancelled: 409,
  'nothing-to-continue': 409,
  closing: 503,
  overloaded: 503,
};

const retryAfter: { readonly [Code in RunRefusal['code']]?: number } = { 'queue-full': 1, closing: 1, overloaded: 5 };

function explain(refusal: RunRefusal): string {
  switch (refusal.code) {
    case 'busy':
      return `Run ${refusal.live.runId} of thread ${refusal.live.threadId} is live. Wait for it, stop it, or set busy to 'queue' or 'replace'.`;
    case 'queue-full':
      return `The queue of thread ${refusal.live.threadId} is full. Wait until some of its runs have ended.`;
    case 'pending':
      return `The last answer waits for ${refusal.decisions.map(({ id }) => id).join(', ')}. Answer it, or set pending to 'supersede'.`;
    case 'key-reused':
      return 'The idempotency key was used for another request. Use a new key for each request.';
    case 'run-exists':
      return `Thread ${refusal.run.threadId} already has a run ${refusal.run.runId}. Use another id, or omit it.`;
    case 'not-found': {
      const { what, threadId, id } = refusal;
      if (what === 'parent') return 'The thread has no such parent message.';
      if (threadId === undefined) return `The ${what} was not found.`;
      return `Thread ${threadId} has no ${id === undefined ? what : `${what} ${id}`}.`;
    }
    case 'already-answered': {
      const { id, answeredBy, answeredAt } = refusal.verdict;
      const author = answeredBy === undefined ? '' : ` by ${answeredBy}`;
      const time = answeredAt === undefined ? '' : ` at ${answeredAt.toISOString()}`;
      return `${id} already has a different answer${author}${time}.`;
    }
    case 'expired':
    case 'cancelled':
      return `${refusal.ids.join(', ')} can no longer be answered: it was ${refusal.code}.`;
    case 'nothing-to-continue':
      return `Message ${refusal.messageId} is not waiting, or the request does not contain its answers. Send a message, or answer its open questions.`;
    case 'closing':
      return 'The process is shutting down. A run that can continue does so in another process, which also accepts new runs.';
    case 'overloaded':
      return 'The process is overloaded and accepts no new runs. Try again in a few seconds.';
  }
}

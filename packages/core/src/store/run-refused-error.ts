import type { Decision, RunRecord } from './registry.ts';

export type RunRefusal =
  /** Another run of the thread is live, and the policy is to refuse. */
  | { code: 'busy'; live: RunRecord }
  /** As many runs wait for the thread as may. */
  | { code: 'queue-full'; live: RunRecord }
  /** The answer before waits for decisions, and the policy is to refuse. */
  | { code: 'pending'; decisions: Decision[] }
  /** The idempotency key was used for something else. */
  | { code: 'key-reused'; run: RunRecord | null }
  /** The run's id is taken in this thread. */
  | { code: 'run-exists'; run: RunRecord }
  /** Foreign and absent look the same. */
  | { code: 'not-found'; what: 'thread' | 'parent' | 'run' }
  /** The process is being shut down and takes no new runs. */
  | { code: 'closing' }
  /** The process is overloaded and refuses new runs for the moment. */
  | { code: 'overloaded' };

/** A run that was not started, or an answer to a run that is not there; the reason is a code that programs can act on. */
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
  closing: 503,
  overloaded: 503,
};

const retryAfter: { readonly [Code in RunRefusal['code']]?: number } = { 'queue-full': 1, closing: 1, overloaded: 5 };

function explain(refusal: RunRefusal): string {
  switch (refusal.code) {
    case 'busy':
      return `Run ${refusal.live.runId} of thread ${refusal.live.threadId} is under way. Wait for it, stop it, or ask with busy: 'queue' or 'replace'.`;
    case 'queue-full':
      return `Too many runs wait for thread ${refusal.live.threadId}. Wait until some of them have ended.`;
    case 'pending':
      return `The last answer waits for ${refusal.decisions.map(({ id }) => id).join(', ')}. Answer it, or ask with pending: 'supersede'.`;
    case 'key-reused':
      return 'The idempotency key was used for another request. Use a key of its own for each.';
    case 'run-exists':
      return `Thread ${refusal.run.threadId} has a run ${refusal.run.runId} already. Use another id, or none.`;
    case 'not-found':
      return `There is no such ${refusal.what === 'parent' ? 'message to follow in this thread' : refusal.what}.`;
    case 'closing':
      return 'The process is being shut down and takes no new runs. Try again in a moment.';
    case 'overloaded':
      return 'The process is overloaded and takes no new runs. Try again in a few seconds.';
  }
}

export type ReadyCheckOptions = {
  /** Maximum time of `run`. Default: 1.5 s. */
  timeoutMs?: number;
  /** Time for which a result is reused. Default: 1 s. */
  freshMs?: number;
};

type Check = { startedAt: number; endedAt: number | undefined; result: Promise<unknown> };

/** Checks the database with a time limit. Checks never overlap, and calls within a second share a result. */
export class ReadyCheck {
  #check: () => Promise<unknown>;
  #timeoutMs: number;
  #freshMs: number;
  #last: Check | undefined;

  constructor(check: () => Promise<unknown>, { timeoutMs = 1_500, freshMs = 1_000 }: ReadyCheckOptions = {}) {
    this.#check = check;
    this.#timeoutMs = timeoutMs;
    this.#freshMs = freshMs;
  }

  /** Rejects if the check fails or does not end in time. */
  async run(): Promise<void> {
    const now = performance.now();
    const last = this.#last;
    const isUsable = last && (last.endedAt === undefined || now - last.endedAt < this.#freshMs);
    const { startedAt, result } = isUsable ? last : this.#start(now);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`The database did not answer within ${this.#timeoutMs} ms.`);
      timer = setTimeout(() => reject(error), startedAt + this.#timeoutMs - now);
    });
    try {
      await Promise.race([result, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #start(startedAt: number): Check {
    const check: Check = { startedAt, endedAt: undefined, result: this.#check() };
    const end = (): void => void (check.endedAt = performance.now());
    check.result.then(end, end);
    this.#last = check;
    return check;
  }
}

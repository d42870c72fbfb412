/**
 * The database is unreachable, does not answer in time, or accepts no writes. The operation may or may not have been executed.
 * Stores throw it for failures that a retry can overcome.
 */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
  readonly code = 'database-away';
  readonly retryable = true;

  constructor(message = 'The database does not answer.', options?: ErrorOptions) {
    super(message, options);
  }
}

import { errors, type ErrorCode } from './errors.ts';

/** JSON body of an error response. */
export type ErrorBody = {
  error: { code: string; message: string; fix?: string; docs?: string; [more: string]: unknown };
};

export type IntertieErrorOptions = {
  /** Further fields of the error body, for programs. */
  data?: { [name: string]: unknown };
  headers?: { [name: string]: string };
  cause?: unknown;
};

/** Error with a code of the catalogue. Clients see its message, so it must contain no secrets and no stack trace. */
export class IntertieError extends Error {
  override readonly name = 'IntertieError';
  readonly code: ErrorCode;
  readonly data: { [name: string]: unknown } | undefined;
  readonly headers: { [name: string]: string } | undefined;

  constructor(code: ErrorCode, message?: string, { data, headers, cause }: IntertieErrorOptions = {}) {
    super(message ?? `${errors[code].title}.`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
    this.headers = headers;
  }

  get status(): number {
    return errors[this.code].status;
  }

  get fix(): string {
    return errors[this.code].fix;
  }

  toBody(): ErrorBody {
    const { code, message, fix, data } = this;
    return { error: { ...data, code, message, fix, docs: `/api/errors/${code}` } };
  }

  toResponse(): Response {
    return Response.json(this.toBody(), { status: this.status, ...(this.headers && { headers: this.headers }) });
  }
}

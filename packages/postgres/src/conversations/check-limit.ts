import { StoreError } from '@intertie/core';

export function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) {
    throw new StoreError('invalid', `limit is ${limit}. Pass a positive integer, or omit it for no limit.`);
  }
}

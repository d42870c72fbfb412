import { StoreError } from '@intertie/core';

export function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1)) {
    const text = `limit is ${limit}, and has to be a whole number from 1 on. Leave it out for no limit.`;
    throw new StoreError('invalid', text);
  }
}

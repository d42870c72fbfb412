import { DatabaseUnavailableError } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import { sqlState, toDatabaseError } from './database.ts';

const failed = (code: string): Error => Object.assign(new Error('failed'), { code });

describe('toDatabaseError', () => {
  it.each(['EPIPE', 'ECONNRESET', '57P01', '53100'])('wraps %s in a DatabaseUnavailableError', (code) => {
    expect(toDatabaseError(failed(code))).toBeInstanceOf(DatabaseUnavailableError);
  });

  it('returns an error of a rejected statement unchanged', () => {
    const error = failed('23505');
    expect(toDatabaseError(error)).toBe(error);
  });
});

describe('sqlState', () => {
  it('ignores error codes of Node', () => {
    expect([sqlState(failed('EPIPE')), sqlState(failed('XX000'))]).toEqual([undefined, 'XX000']);
  });
});

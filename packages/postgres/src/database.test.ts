import { DatabaseAwayError } from '@intertie/core';
import { describe, expect, it } from 'vitest';

import { sqlState, toDatabaseError } from './database.ts';

const failed = (code: string): Error => Object.assign(new Error('failed'), { code });

describe('toDatabaseError', () => {
  it.each(['EPIPE', 'ECONNRESET', '57P01', '53100'])('says that the database is away after %s', (code) => {
    expect(toDatabaseError(failed(code))).toBeInstanceOf(DatabaseAwayError);
  });

  it('returns the judgement of the server as it is', () => {
    const error = failed('23505');
    expect(toDatabaseError(error)).toBe(error);
  });
});

describe('sqlState', () => {
  it('takes no code of Node for one of the server', () => {
    expect([sqlState(failed('EPIPE')), sqlState(failed('XX000'))]).toEqual([undefined, 'XX000']);
  });
});

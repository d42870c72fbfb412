import { check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { responseDefects, validResponse } from '../../test/response-defects.ts';
import { openai } from '../openai-protocol.ts';

describe('the rules of Responses streams', () => {
  it('accept a stream of the encoder', () => {
    expect(check(openai, validResponse).violations).toEqual([]);
  });

  it.each(responseDefects)('report a broken rule: %s', (rule, items) => {
    expect(check(openai, items).violations.map((violation) => violation.rule)).toContain(rule);
  });
});

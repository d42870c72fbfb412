import { check } from '@intertie/conformance';
import { describe, expect, it } from 'vitest';
import { a2aDefects, validTask } from '../../test/a2a-defects.ts';
import { a2aProtocol } from '../a2a-protocol.ts';

describe('createA2AChecker', () => {
  it('accepts a valid task', () => {
    expect(check(a2aProtocol, validTask).violations).toEqual([]);
  });

  it.each(a2aDefects)('reports only the violated rule: %s', (rule, items) => {
    expect(check(a2aProtocol, items).violations.map((violation) => violation.rule)).toEqual([rule]);
  });
});

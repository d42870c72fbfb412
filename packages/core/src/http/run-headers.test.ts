import { expect, it } from 'vitest';
import { readRunHeaders, toRunHeaders } from './run-headers.ts';

const readHeaders = (headers: Record<string, string>) => readRunHeaders(new Response(null, { headers }));

it.each([
  'run_1',
  '0193-ab:c/d?e=f&g',
  'a b',
  '会話-1',
  'größe',
  '🎈',
  'a\r\nx-forged: b',
  '100%',
  '%41',
  '"quoted", (list)',
])('round-trips the id %j through a header', (id) => {
  expect(readHeaders(toRunHeaders({ runId: id, messageId: `m${id}` }))).toEqual({ runId: id, messageId: `m${id}` });
});

it('does not encode ids of visible ASCII', () => {
  const id = `!"#$&'()*+,-./:;<=>?@[]^_{|}~aZ09`;
  expect(toRunHeaders({ runId: id })).toEqual({ 'x-intertie-run': id });
});

it('reads an id that was not encoded', () => {
  expect(readHeaders({ 'x-intertie-run': '100%' })).toEqual({ runId: '100%' });
  expect(readHeaders({})).toEqual({});
});

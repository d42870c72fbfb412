import { describe, expect, it } from 'vitest';
import { testIO } from '../../test/tool-io.ts';
import { deleteThreads, exportThread, listThreads, showThread } from './threads.ts';

/** Fake server with the routes that these commands use. */
function server(seen: string[]): typeof globalThis.fetch {
  const thread = {
    id: 'a/b',
    title: 'A trip',
    agent: 'ann',
    version: 1,
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-01-02T10:30:00Z',
  };
  const messages = [
    { id: 'u', role: 'user', parts: [{ type: 'text', text: 'Where to?' }] },
    {
      id: 'm',
      role: 'assistant',
      parts: [
        { type: 'dynamic-tool', toolName: 'search', state: 'output-available', input: { q: 1 }, output: 'Oslo' },
        { type: 'text', text: 'To Oslo.' },
      ],
    },
  ];
  return async (input, init) => {
    const { pathname, search } = new URL(input as string);
    const token = new Headers(init?.headers).get('authorization') ?? '';
    seen.push(`${init?.method ?? 'GET'} ${pathname}${search} ${token}`.trim());
    if (pathname === '/api/threads') return Response.json({ threads: [thread] });
    if (pathname === '/api/threads/a%2Fb' && init?.method === 'DELETE') return new Response(null, { status: 204 });
    if (pathname === '/api/threads/a%2Fb')
      return Response.json({ thread, live: { runId: 'r', messageId: 'n', agent: 'ann' } });
    if (pathname === '/api/threads/a%2Fb/messages') return Response.json({ messages, branches: {} });
    if (pathname === '/api/threads/a%2Fb/export') return new Response('{"a":1}\n{"b":2}\n');
    const error = { code: 'not-found', message: 'Thread not found.', fix: 'List them.' };
    return Response.json({ error }, { status: 404 });
  };
}

function world(env: Record<string, string> = {}): ReturnType<typeof testIO> & { seen: string[] } {
  const seen: string[] = [];
  return Object.assign(testIO({ fetch: server(seen), env }), { seen });
}

describe('threads', () => {
  it('lists threads, one per line', async () => {
    const io = world({ INTERTIE_TOKEN: 'secret', INTERTIE_URL: 'http://127.0.0.1:9999/' });
    expect(await listThreads({ search: 'trip', limit: 5 }, io)).toBe(0);
    expect(io.stdout.text).toBe('a/b  2026-01-02 10:30 ann  A trip\n');
    expect(io.seen).toEqual(['GET /api/threads?limit=5&search=trip Bearer secret']);
    const json = world();
    await listThreads({ json: true }, json);
    expect(JSON.parse(json.stdout.text)).toMatchObject({ threads: [{ id: 'a/b' }] });
  });

  it('shows the messages of a thread', async () => {
    const io = world();
    await showThread({ thread: 'a/b' }, io);
    expect(io.stdout.text).toBe(
      'A trip\n\nuser\nWhere to?\n\nassistant\n⚙ search {"q":1} → "Oslo"\nTo Oslo.\n\nann is writing.\n',
    );
  });

  it('exports a thread', async () => {
    const io = world();
    await exportThread({ thread: 'a/b' }, io);
    expect(io.stdout.text).toBe('{"a":1}\n{"b":2}\n');
  });

  it('deletes threads only with --yes', async () => {
    const io = world();
    await expect(deleteThreads({ threads: ['a/b'] }, io)).rejects.toMatchObject({
      exitCode: 2,
      fix: expect.stringContaining('--yes'),
    });
    expect(io.seen).toEqual([]);
    expect(await deleteThreads({ threads: ['a/b'], yes: true }, io)).toBe(0);
    expect(io.seen).toEqual(['DELETE /api/threads/a%2Fb']);
  });

  it('shows the error message of the server', async () => {
    await expect(showThread({ thread: 'x' }, world())).rejects.toMatchObject({
      exitCode: 3,
      message: 'Thread not found.',
      fix: 'List them.',
    });
  });
});

it('reports a server that is down or is not an Intertie server', async () => {
  const down = async (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));
  await expect(listThreads({}, testIO({ fetch: down }))).rejects.toMatchObject({
    exitCode: 3,
    fix: expect.stringContaining('--server'),
  });
  const other = async (): Promise<Response> => new Response('<html>');
  await expect(listThreads({}, testIO({ fetch: other }))).rejects.toMatchObject({
    message: expect.stringContaining('not an Intertie server'),
  });
});

import { createAGUIHandler } from '@intertie/ag-ui';
import { createChatHandler } from '@intertie/ai-sdk';
import { createMAILDemo } from '@intertie/mail/demo';
import { describe, expect, it } from 'vitest';
import { askingSource } from '../../../test/asking-source.ts';
import { serve } from '../../../test/serve-tool.ts';
import { bufferSink, testIO, type BufferSink } from '../../../test/tool-io.ts';
import type { ChatTerminal } from './chat-terminal.ts';
import { chat, type ChatOptions } from './chat.ts';

type Played = { code: number; text: string };

/** Runs a chat with a user who types these lines. */
async function play(
  options: ChatOptions,
  typed: string[],
  {
    onOutput,
    env = {},
  }: { onOutput?: (text: string, interrupt: () => void) => void; env?: Record<string, string> } = {},
): Promise<Played> {
  let interrupt: (() => void) | undefined;
  const out = bufferSink();
  const stdout: BufferSink = {
    ...out,
    get text() {
      return out.text;
    },
    write: (text) => {
      void out.write(text);
      onOutput?.(out.text, () => interrupt?.());
    },
  };
  const terminal: ChatTerminal = {
    ask: async (prompt) => {
      void out.write(prompt);
      const line = typed.shift();
      void out.write(`${line ?? ''}\n`);
      return line;
    },
    onInterrupt: (listener) => {
      interrupt = listener;
      return () => (interrupt = undefined);
    },
    close: () => undefined,
  };
  const code = await chat(options, testIO({ stdout, env, now: Date.now }), terminal);
  return { code, text: out.text };
}

const agUi = await serve(createAGUIHandler(askingSource()));
const ui = await serve(createChatHandler(askingSource()));
const mail = await serve(createMAILDemo({ paceMs: 0, stallMs: 10 }).fetch);

describe.each([
  ['an AG-UI agent', `${agUi}/ag-ui`],
  ['a chat route', `${ui}/api/chat`],
  ['an AG-UI endpoint without a hint in its path', `${agUi}/agent`],
  ['a chat route without a hint in its path', `${ui}/agent`],
])('chat with %s', (_, target) => {
  it('labels agents, summarizes reasoning, and asks for approvals and answers', async () => {
    const { code, text } = await play({ target }, ['paint the wall', 'yes', '2', 'thanks']);
    expect(code).toBe(0);
    expect(text).toContain('(reasoning: 5 words; /reasoning shows it)');
    expect(text).toContain('ann Let me see.');
    expect(text).toContain('⚙ paint {"wall":1}');
    expect(text).toContain('? May I paint?');
    expect(text).toContain('  1  red');
    expect(text).toContain('You said yes and blue.');
    // The last message starts a new run.
    expect(text.match(/Let me see\./g)).toHaveLength(2);
  });

  it('declines an approval with a reason', async () => {
    const { text } = await play({ target }, ['paint the wall', 'not on a Sunday', 'red']);
    expect(text).toContain('You said no and red.');
  });

  it('stops an answer at Ctrl-C and continues the chat', async () => {
    const onOutput = (text: string, interrupt: () => void): void => {
      if (text.endsWith('Let me see.') && !text.includes('stopped')) setTimeout(interrupt, 0);
    };
    const { text } = await play({ target }, ['be slow'], { onOutput });
    expect(text).toMatch(/Let me see\.\n {2}stopped/);
  });
});

it('answers a breakpoint tool of a MAIL swarm', async () => {
  const { text } = await play({ target: mail, token: 'x' }, ['book a trip', 'comfort']);
  expect(text).toContain('The client must run');
  expect(text).toContain('You said: comfort.');
});

it('finds agents of an Intertie server by name', async () => {
  const handler = createChatHandler(askingSource());
  const agents = [
    { name: 'ann', isDefault: true },
    { name: 'bob', description: 'Knows all.' },
  ];
  const paths: string[] = [];
  const server = await serve((request) => {
    const { pathname } = new URL(request.url);
    paths.push(pathname);
    return pathname === '/api/agents' ? Response.json({ agents, version: '0' }) : handler(request);
  });
  expect((await play({ server }, ['hi'])).text).toContain('Let me see.');
  expect((await play({ target: 'bob' }, ['hi'], { env: { INTERTIE_URL: server } })).text).toContain('Let me see.');
  expect((await play({ target: server }, ['hi'])).text).toContain('Let me see.');
  expect(paths.filter((path) => path.endsWith('/chat'))).toEqual([
    '/api/agents/ann/chat',
    '/api/agents/bob/chat',
    '/api/agents/ann/chat',
  ]);
  await expect(play({ server, target: 'bobb' }, [])).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('Did you mean “bob”'),
  });
});

it('resumes a stream that breaks off', async () => {
  const whole = createChatHandler(askingSource());
  const frames: string[] = [];
  const calls: string[] = [];
  const server = await serve(async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    calls.push(`${request.method} ${pathname}`);
    const headers = {
      'content-type': 'text/event-stream',
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-intertie-run': 'run',
    };
    if (request.method === 'POST') {
      const text = await (await whole(request)).text();
      frames.push(
        ...text
          .trim()
          .split('\n\n')
          .map((frame, index) => `id: ${index}\n${frame}\n\n`),
      );
      return new Response(frames.slice(0, 4).join(''), { headers });
    }
    return new Response(frames.slice(Number(searchParams.get('after')) + 1).join(''), { headers });
  });
  const { text } = await play({ target: `${server}/api/chat` }, ['hi']);
  expect(text.match(/Let me see\./g)).toHaveLength(1);
  expect(calls.some((call) => call.startsWith('GET') && call.endsWith('/stream'))).toBe(true);
});

it('continues a message under the id of the server', async () => {
  const handler = createChatHandler(askingSource());
  const given: Array<string | null> = [];
  const named: unknown[] = [];
  const server = await serve(async (request) => {
    const { messages } = (await request.clone().json()) as { messages: Array<{ id: string }> };
    named.push(messages.at(-1)?.id);
    const response = await handler(request);
    given.push(response.headers.get('x-intertie-message'));
    return response;
  });
  for (const path of ['/api/chat', '/agent']) {
    const { text } = await play({ target: `${server}${path}` }, ['paint the wall', 'yes', '1']);
    expect(text).toContain('You said yes and red.');
    expect(named.splice(0)[1]).toBe(given.splice(0)[0]);
  }
});

it('continues a thread of the server', async () => {
  const handler = createChatHandler(askingSource());
  let asked: { messages: unknown[]; id: string } | undefined;
  const server = await serve(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/api/agents') return Response.json({ agents: [{ name: 'ann' }] });
    if (pathname === '/api/threads/t1/messages') {
      return Response.json({ messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Before' }] }] });
    }
    asked = (await request.clone().json()) as typeof asked;
    return handler(request);
  });
  const { text } = await play({ server, thread: 't1' }, ['hi']);
  expect(text).toContain('› Before');
  expect(asked).toMatchObject({ id: 't1', messages: [{ id: 'u' }, { role: 'user' }] });
});

describe('chat', () => {
  it('leaves a question open in a script and writes the answer to stdout', async () => {
    const { code, text } = await play({ target: `${ui}/api/chat`, message: 'paint' }, []);
    expect([code, text]).toEqual([0, expect.stringContaining('(left open)')]);
  });

  it('exits with 1 if the agent cannot be reached', async () => {
    const fetch = async (): Promise<Response> => Response.json({ error: 'down' }, { status: 503 });
    const io = testIO({ fetch });
    const terminal = { ask: async () => undefined, onInterrupt: () => () => undefined, close: () => undefined };
    expect(await chat({ target: 'http://127.0.0.1:1/api/chat', message: 'hi' }, io, terminal)).toBe(1);
    expect(io.stdout.text).toContain('✗');
  });

  it('handles /help, /new, /reasoning and unknown commands', async () => {
    const { text } = await play({ target: `${ui}/api/chat` }, [
      '/help',
      'hi',
      '/reasoning',
      '/new',
      '/nonsense',
      '/exit',
      'never said',
    ]);
    expect(text).toContain('I had better ask first.');
    expect(text).toContain('Unknown command /nonsense.');
    expect(text).toContain('New conversation.');
    expect(text).not.toContain('never said');
  });

  it('escapes terminal control sequences in answers', async () => {
    const escape = String.fromCodePoint(27);
    const chunk = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
    const body = [
      { type: 'start' },
      { type: 'text-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: `${escape}]0;owned` },
      { type: 'text-end', id: 'a' },
      { type: 'finish' },
    ];
    const url = await serve(
      () => new Response(body.map(chunk).join(''), { headers: { 'content-type': 'text/event-stream' } }),
    );
    expect((await play({ target: `${url}/api/chat` }, ['hi'])).text).not.toContain(escape);
  });
});

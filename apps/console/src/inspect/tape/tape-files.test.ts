import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { foldEvents, formatTape, parseTape, transcode, type AgentEvent, type Tape } from '@intertie/core';
import { createUIMessageEncoder } from '@intertie/ai-sdk';
import { describe, expect, it } from 'vitest';
import { readRunTape } from './read-run-tape.ts';
import { createRerunCommand, createTestCode, createReadCommand } from './run-as-code.ts';
import { createTape } from './create-tape.ts';

const path = new URL('../../../../../packages/conformance/corpus/swarm-asks.tape.jsonl', import.meta.url);
const text = readFileSync(path, 'utf8');
const events = parseTape(text).items.map(({ item }) => item as unknown as AgentEvent);
const entries = events.map((event, index) => ({ id: `1.${index + 1}`, event }));

describe('createTape', () => {
  it('creates a tape that reads back as the same run', async () => {
    const tape = createTape({ entries, frames: [] }, 'Asked');
    const again = await readRunTape(formatTape(tape as unknown as Tape));
    expect(again.items.map(({ item }) => item)).toEqual(events);
    expect(again.header).toMatchObject({
      tape: 1,
      dialect: 'canonical',
      title: 'Asked',
      createdAt: expect.any(String),
    });
  });

  it('never decreases times and takes missing ones from the frames', () => {
    const frames = [{ index: 0, at: 5250, dialect: 'x', frame: null }];
    const start: AgentEvent = { type: 'run-start', runId: 'r', threadId: 't', messageId: 'm', at: 5000 };
    const delta: AgentEvent = { type: 'text-delta', id: 'x', delta: 'Hi', origin: 0 };
    const late: AgentEvent = { type: 'run-end', outcome: 'complete', at: 5100 };
    const run = [start, delta, late].map((event, index) => ({ id: String(index), event }));
    expect(createTape({ entries: run, frames }).items.map(({ t }) => t)).toEqual([0, 250, 250]);
  });
});

describe('readRunTape', () => {
  it('decodes a tape of a UI message stream', async () => {
    const items = transcode(createUIMessageEncoder({ includeInternal: true }), events).map((item, index) => ({
      t: index,
      item,
    }));
    const tape = { header: { tape: 1 as const, dialect: 'ui-message-stream' }, items } as unknown as Tape;
    const run = await readRunTape(formatTape(tape));
    const getText = (list: AgentEvent[]): string =>
      list.flatMap((event) => (event.type === 'text-delta' ? event.delta : [])).join('');
    expect(getText(run.items.map(({ item }) => item))).toBe(getText(events));
    expect(run.items.at(-1)?.item.type).toBe('run-end');
    expect(run.header.dialect).toBe('canonical');
  });

  it('rejects an unreadable tape with an explanation', async () => {
    await expect(readRunTape('{"tape":1,"dialect":"smoke signals"}\n')).rejects.toThrow(
      /smoke signals.*intertie convert/s,
    );
    await expect(readRunTape('hello')).rejects.toThrow(/Is this file a tape/);
    await expect(
      readRunTape('{"tape":1,"dialect":"canonical"}\n{"t":0,"item":{"type":"text-delta"}}\n'),
    ).rejects.toThrow(/text-delta/);
  });
});

describe('exported code', () => {
  it('creates a test whose events fold to the same message', () => {
    const code = createTestCode(events, "it's Ok");
    const list = /= (\[[\s\S]*?\n\]);/.exec(code)?.[1] ?? '';
    const again = JSON.parse(list.replace(/,\n\]$/, '\n]')) as AgentEvent[];
    expect(foldEvents(again)).toEqual(foldEvents(events));
    expect(code).toContain(`status: "${foldEvents(events)?.status}"`);
  });

  it('quotes commands for a POSIX shell', () => {
    const message = { id: 'm', role: 'user' as const, parts: [{ type: 'text' as const, text: "it's `now` $HOME @" }] };
    const command = createRerunCommand('http://localhost:1', '/api/agents/a/chat', [message]);
    const output = execFileSync('sh', ['-c', command.replace('curl', String.raw`printf '%s\n'`)], { encoding: 'utf8' });
    const body = JSON.parse(output.trim().split('\n').at(-1) ?? '') as { id: string; messages: unknown[] };
    expect(body.messages).toEqual([message]);
    expect(body.id).toMatch(/^again-\d+$/);
    expect(createReadCommand('http://h', "/api/runs/it's/events")).toBe(
      String.raw`curl -N 'http://h/api/runs/it'\''s/events'`,
    );
  });
});

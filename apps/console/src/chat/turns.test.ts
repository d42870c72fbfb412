import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { sourcesOf, textOf, turnsOf } from './turns.ts';

const said = (agentId: string, text: string, more: object = {}): UIMessage['parts'][number] => ({
  type: 'text',
  text,
  providerMetadata: { intertie: { agentId, ...more } },
});

const message = (...parts: UIMessage['parts']): UIMessage => ({ id: 'm', role: 'assistant', parts });

describe('the turns of a message', () => {
  const agent = (agentId: string, name: string): UIMessage['parts'][number] => ({
    type: 'data-agent',
    data: { agentId, name, kind: 'agent' },
  });

  it('stay what they were while the chat writes into the first object that it shows of an answer', () => {
    const text = { type: 'text' as const, text: 'Hel' };
    const [drawn] = turnsOf(message(text));
    text.text += 'lo';
    expect(drawn?.parts).toEqual([{ type: 'text', text: 'Hel' }]);
  });

  it('are what each agent says in a row', () => {
    const turns = turnsOf(
      message(
        agent('a', 'Planner'),
        agent('b', 'Critic'),
        said('a', '1'),
        said('a', '2'),
        said('b', '3'),
        said('a', '4'),
      ),
    );
    expect(turns.map(({ speaker, parts }) => [speaker?.name, parts.length])).toEqual([
      ['Planner', 2],
      ['Critic', 1],
      ['Planner', 1],
    ]);
  });

  it('keep apart what is said between agents, and to whom', () => {
    const turns = turnsOf(
      message(
        agent('a', 'Planner'),
        said('a', '1', { internal: true, to: ['Critic'] }),
        said('a', '2', { internal: true, to: ['Reader'] }),
        said('a', '3'),
      ),
    );
    expect(turns.map(({ internal, to }) => [internal, ...to])).toEqual([[true, 'Critic'], [true, 'Reader'], [false]]);
  });

  it('have no empty words, and none of our own data', () => {
    const turns = turnsOf(
      message(said('a', ''), { type: 'step-start' }, { type: 'data-state', data: {} }, { type: 'data-chart', data: 1 }),
    );
    expect(turns.flatMap(({ parts }) => parts.map(({ type }) => type))).toEqual(['data-chart']);
  });
});

describe('the sources of a message', () => {
  it('are listed once, and never link to a program', () => {
    const sources = sourcesOf(
      message(
        { type: 'source-url', sourceId: '1', url: 'https://example.org/a', title: 'A' },
        { type: 'source-url', sourceId: '2', url: 'https://example.org/a', title: 'A' },
        { type: 'source-url', sourceId: '3', url: 'javascript:alert(1)' },
      ),
    );
    expect(sources).toEqual([
      { id: '2', title: 'A', url: 'https://example.org/a' },
      { id: '3', title: 'javascript:alert(1)' },
    ]);
  });
});

it('copies the words of a message', () => {
  expect(textOf(message(said('a', 'one'), { type: 'reasoning', text: 'hm' }, said('b', 'two')))).toBe('one\n\ntwo');
});

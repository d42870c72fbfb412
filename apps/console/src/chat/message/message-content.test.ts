import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { getSources, getText, splitByAgent } from './message-content.ts';

const text = (agentId: string, content: string, more: object = {}): UIMessage['parts'][number] => ({
  type: 'text',
  text: content,
  providerMetadata: { intertie: { agentId, ...more } },
});

const message = (...parts: UIMessage['parts']): UIMessage => ({ id: 'm', role: 'assistant', parts });

describe('splitByAgent', () => {
  const agent = (agentId: string, name: string): UIMessage['parts'][number] => ({
    type: 'data-agent',
    data: { agentId, name, kind: 'agent' },
  });

  it('copies the parts, since Chat mutates the first object of an answer', () => {
    const part = { type: 'text' as const, text: 'Hel' };
    const [segment] = splitByAgent(message(part));
    part.text += 'lo';
    expect(segment?.parts).toEqual([{ type: 'text', text: 'Hel' }]);
  });

  it('groups consecutive parts of the same agent', () => {
    const segments = splitByAgent(
      message(
        agent('a', 'Planner'),
        agent('b', 'Critic'),
        text('a', '1'),
        text('a', '2'),
        text('b', '3'),
        text('a', '4'),
      ),
    );
    expect(segments.map(({ speaker, parts }) => [speaker?.name, parts.length])).toEqual([
      ['Planner', 2],
      ['Critic', 1],
      ['Planner', 1],
    ]);
  });

  it('separates internal parts and parts with different recipients', () => {
    const segments = splitByAgent(
      message(
        agent('a', 'Planner'),
        text('a', '1', { internal: true, to: ['Critic'] }),
        text('a', '2', { internal: true, to: ['Reader'] }),
        text('a', '3'),
      ),
    );
    expect(segments.map(({ internal, to }) => [internal, ...to])).toEqual([
      [true, 'Critic'],
      [true, 'Reader'],
      [false],
    ]);
  });

  it("omits empty text and Intertie's own data parts", () => {
    const segments = splitByAgent(
      message(text('a', ''), { type: 'step-start' }, { type: 'data-state', data: {} }, { type: 'data-chart', data: 1 }),
    );
    expect(segments.flatMap(({ parts }) => parts.map(({ type }) => type))).toEqual(['data-chart']);
  });
});

describe('getSources', () => {
  it('removes duplicates and links that are not web pages', () => {
    const sources = getSources(
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

it('joins the text parts of a message', () => {
  expect(getText(message(text('a', 'one'), { type: 'reasoning', text: 'hm' }, text('b', 'two')))).toBe('one\n\ntwo');
});

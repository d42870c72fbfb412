import { expect, test } from 'vitest';
import { tapeSource } from '@intertie/core';
import { checkConfig, defineConfig } from './config.ts';

const source = tapeSource({ header: { tape: 1, dialect: 'canonical' }, items: [] });

test('returns a valid configuration unchanged', () => {
  const config = { agents: { helper: source }, cors: ['https://app.example.com'], port: 0 };
  expect(defineConfig(config)).toBe(config);
});

test.each([
  [null, 'The configuration is null'],
  [{ agents: {} }, 'agents is {}'],
  [{}, 'agents is missing'],
  [{ agents: { helper: source }, agnets: {} }, 'no field "agnets". Did you mean “agents”?'],
  [{ agents: { 'a b': source } }, 'The agent name "a b" is invalid'],
  [{ agents: { helper: 'gpt' } }, 'agents.helper is "gpt"'],
  [{ agents: { helper: source }, defaultAgent: 'other' }, 'the agents are helper'],
  [{ agents: { helper: source }, cors: ['https://a.example/'] }, 'without a path'],
  [{ agents: { helper: source }, token: 'short' }, '16 characters'],
  [{ agents: { helper: source }, port: 70_000 }, 'port is 70000'],
  [{ agents: { helper: source }, limits: { bodyBytes: -1 } }, 'bodyBytes is -1'],
  [{ agents: { helper: source }, history: { maxMessage: 5 } }, 'history has no field "maxMessage"'],
  [{ agents: { helper: source }, history: { maxTokens: 0 } }, 'history.maxTokens is 0'],
  [{ agents: { helper: source }, auth: true }, 'auth is true'],
  [{ agents: { helper: source }, log: 'nats://127.0.0.1' }, 'log is "nats://127.0.0.1"; create it with nats('],
])('rejects the configuration %j and names the field', (config, text) => {
  expect(() => checkConfig(config)).toThrow(text);
});

test('never shows a token in an error', () => {
  expect(() => checkConfig({ agents: { helper: source }, token: 'hunter2' })).not.toThrow('hunter2');
});

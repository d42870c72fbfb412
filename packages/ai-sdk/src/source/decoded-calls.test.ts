import { getEventListeners } from 'node:events';
import type { AgentEvent } from '@intertie/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DecodedCalls } from './decoded-calls.ts';

const call = (toolCallId: string, more: Partial<AgentEvent & { type: 'tool-call' }> = {}): AgentEvent => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'act',
  input: {},
  executor: 'runtime',
  ...more,
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('gives claims of one provider id the calls in their order', async () => {
  const calls = new DecodedCalls();
  const first = calls.claim('0');
  calls.observe(call('0'));
  calls.observe(call('run-1:0', { providerMetadata: { 'ai-sdk': { toolCallId: '0' } } }));
  expect(await first).toBe('0');
  expect(await calls.claim('0')).toBe('run-1:0');
});

test('does not give a claim a call of an earlier step, an invalid call or a client’s call', async () => {
  const calls = new DecodedCalls();
  const own = { 'ai-sdk': { toolCallId: '0' } };
  calls.observe(call('0'));
  calls.observe({ type: 'step-start', stepId: 's' });
  calls.observe(call('a', { providerMetadata: own, invalid: { message: 'No such tool.' } }));
  calls.observe(call('b', { providerMetadata: own, executor: 'client' }));
  calls.observe(call('c', { providerMetadata: own }));
  expect(await calls.claim('0')).toBe('c');
});

test('fails a claim whose call is never decoded', async () => {
  const calls = new DecodedCalls(100);
  calls.resume();
  const failure = calls.claim('0').catch(String);
  await vi.advanceTimersByTimeAsync(100);
  expect(await failure).toContain('its call 0 did not appear');
});

test('does not count time in which nothing is read', async () => {
  const calls = new DecodedCalls(100);
  const claim = calls.claim('0');
  await vi.advanceTimersByTimeAsync(1000);
  calls.resume();
  await vi.advanceTimersByTimeAsync(99);
  calls.pause();
  await vi.advanceTimersByTimeAsync(1000);
  calls.observe(call('0'));
  expect(await claim).toBe('0');
  expect(vi.getTimerCount()).toBe(0);
});

test('fails waiting and later claims when the run is stopped', async () => {
  const calls = new DecodedCalls();
  const abort = new AbortController();
  calls.stopOn(abort.signal);
  calls.resume();
  const failure = calls.claim('0').catch(String);
  abort.abort();
  expect(await failure).toContain('The run was stopped');
  await expect(calls.claim('1')).rejects.toThrow('The run was stopped');
  expect(vi.getTimerCount()).toBe(0);
});

test('has one abort listener, however many calls wait', async () => {
  const calls = new DecodedCalls();
  const { signal } = new AbortController();
  calls.stopOn(signal);
  const claims = ['0', '1', '2'].map((id) => calls.claim(id));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const id of ['0', '1', '2']) calls.observe(call(id));
  expect(await Promise.all(claims)).toEqual(['0', '1', '2']);
});

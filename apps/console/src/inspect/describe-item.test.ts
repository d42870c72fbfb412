import { describe, expect, it } from 'vitest';
import { canonical } from '@intertie/conformance';
import { createItemClassifier } from '@intertie/core/internal';
import { describeItem } from './describe-item.ts';

const items = createItemClassifier([canonical.items, { families: { tool: ['tool_call'] } }]);

describe('describeItem', () => {
  it.each([
    [{ type: 'text-delta', id: 'r:0', delta: 'Hel\n' }, 'text-delta', '"Hel\\n"'],
    [{ type: 'text-start', id: 'r:0', agentId: 'a' }, 'text-start', 'a'],
    [{ type: 'text-start', id: 'r:0', to: ['critic', 'writer'], internal: true }, 'text-start', 'to critic, writer'],
    [
      { type: 'tool-call', toolCallId: 'c', toolName: 'weather', input: { city: 'Oslo' } },
      'tool-call',
      'weather  {city: "Oslo"}',
    ],
    [{ type: 'tool-result', toolCallId: 'c', status: 'ok', output: 12 }, 'tool-result', 'ok  12'],
    [{ type: 'run-end', outcome: 'complete', finishReason: 'stop' }, 'run-end', 'complete  stop'],
    [{ type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"a"' }, 'TOOL_CALL_ARGS', '"{\\"a\\""'],
    [
      { type: 'CUSTOM', name: 'intertie.notice', value: { level: 'info' } },
      'CUSTOM',
      'intertie.notice  {level: "info"}',
    ],
    [{ type: 'node:start', nodeId: 'team', runId: 'x' }, 'node:start', 'team'],
  ])('describes %j', (item, type, text) => {
    expect(describeItem(item, items)).toMatchObject({ type, text });
  });

  it('describes a server-sent event with parsed and with unparsed data', () => {
    const data = { timestamp: '…', description: 'agent a called b', extra_data: { tool_name: 'b', tool_args: {} } };
    const described = { type: 'tool_call', family: 'tool', text: 'b  agent a called b' };
    expect(describeItem({ event: 'tool_call', data }, items)).toEqual(described);
    expect(describeItem({ event: 'tool_call', data: JSON.stringify(data) }, items)).toEqual(described);
    expect(describeItem({ event: 'ping', data: 'alive' }, items)).toMatchObject({ type: 'ping', text: 'alive' });
  });

  it('shortens UUIDs', () => {
    const id = '01a1e1d0-ecbd-7430-9900-80cb9809913a';
    expect(describeItem({ type: 'text-end', id: `${id}:1` }, items).text).toBe('…913a:1');
    expect(describeItem({ type: 'data-agent', data: { agentId: `${id}:plan` } }, items).text).toBe(
      '{agentId: "…913a:plan"}',
    );
  });

  it('accepts null and an empty object', () => {
    expect(describeItem(null, items)).toEqual({ type: 'object', family: 'data', text: 'null' });
    expect(describeItem({}, items)).toEqual({ type: 'frame', family: 'data', text: '' });
  });
});

import { fileURLToPath } from 'node:url';

import { agUi, AGUIChatTransport } from '@intertie/ag-ui';
import { check } from '@intertie/conformance';
import type { Loss } from '@intertie/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { chatMajors, settled, shown } from '../../packages/ai-sdk/test/chats.ts';
import { pythonFor } from '../../scripts/python.mjs';
import { startPythonServer, type PythonServer } from './python-server.ts';

const path = (name: string): string => fileURLToPath(new URL(`ag-ui-pydantic/${name}`, import.meta.url));
const found = pythonFor(path('requirements.txt'));

/** The visible fields of a part. */
function formatPart(part: { readonly [key: string]: unknown }): string[] {
  const { type, text, toolName = String(type).replace(/^tool-/, ''), state, output } = part;
  if (typeof text === 'string') return text === '' ? [] : [`${String(type)} ${text}`];
  return typeof part.toolCallId === 'string' ? [`${String(toolName)} ${String(state)} ${JSON.stringify(output)}`] : [];
}

describe('the AG-UI server of pydantic-ai', () => {
  let agent: PythonServer;

  beforeAll(async () => {
    if ('missing' in found) return;
    agent = await startPythonServer(found.python, path('server.py'));
  });
  afterAll(() => void agent?.process.kill());
  beforeEach((context) => context.skip('missing' in found, 'missing' in found ? found.missing : ''));

  describe.each(chatMajors)('with $name', ({ major, ai, createChat }) => {
    /** Creates a chat with the agent, and records all of its events. */
    const locate = {
      name: 'locate',
      description: 'Where the user is',
      inputSchema: { type: 'object', properties: {} },
    };
    const chatWith = (place = 'scripted', tools = [locate]) => {
      const frames: unknown[] = [];
      const losses: Loss[] = [];
      const data: unknown[] = [];
      const transport = new AGUIChatTransport({
        url: `${agent.url}/${place}`,
        version: major,
        onFrame: (frame) => void frames.push(frame),
        onLoss: (loss) => void losses.push(loss),
        prepare: () => ({ tools }),
      });
      const chat = createChat({
        id: 'thread-1',
        transport: transport as never,
        onData: ({ type, data: value }) => void data.push([type, value]),
        sendAutomaticallyWhen: (options) =>
          ai.lastAssistantMessageIsCompleteWithApprovalResponses(options) ||
          ai.lastAssistantMessageIsCompleteWithToolCalls(options),
      });
      const getShown = (): string[] => shown(chat.messages.at(-1)).flatMap(formatPart);
      /** Protocol rules that the agent itself violates. */
      const broken = (): string[] => [...new Set(check(agUi, frames).violations.map(({ rule }) => rule))];
      return { chat, data, losses, getShown, broken };
    };

    it('streams text', async () => {
      const { chat, getShown, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'text' });
      expect(chat.error).toBeUndefined();
      expect(getShown()).toEqual(['text Hello ☃']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('streams reasoning', async () => {
      const { chat, getShown, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'think' });
      expect(getShown()).toEqual(['reasoning Hm, let me see.', 'text I see.']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('runs one or two server tools, and receives their results in the history', async () => {
      const { chat, getShown, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'weather' });
      const paris = '{"city":"Paris","degrees":21}';
      expect(getShown()).toEqual(['text Let me look. ', `weather output-available ${paris}`, `text It says ${paris}.`]);
      await chat.sendMessage({ text: 'both' });
      const rome = '{"city":"Rome","degrees":21}';
      expect(getShown()).toEqual([
        `weather output-available ${paris}`,
        `weather output-available ${rome}`,
        `text They say ${paris} and ${rome}.`,
      ]);
      expect(chat.error).toBeUndefined();
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('calls a client tool, and continues with its result', async () => {
      const { chat, getShown, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'locate' });
      expect(getShown()).toEqual(['locate input-available undefined']);
      await chat.addToolOutput({ tool: 'locate' as never, toolCallId: 'call-locate', output: 'Rome' });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      expect(getShown()).toEqual(['locate output-available "Rome"', 'text It says Rome.']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it.each([
      [true, 'remove output-available "Paris is gone"', 'text It says Paris is gone.'],
      [false, 'remove output-available "Keep it."', 'text It says Keep it..'],
    ])('asks for approval, and receives %s', async (approved, result, text) => {
      const { chat, getShown, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'remove' });
      expect(getShown()).toEqual(['remove approval-requested undefined']);
      const id = chat.messages
        .at(-1)!
        .parts.flatMap((part) => ('approval' in part ? (part.approval?.id ?? []) : []))[0]!;
      await chat.addToolApprovalResponse({ id, approved, ...(!approved && { reason: 'Keep it.' }) });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      expect(getShown()).toEqual([result, text]);
      // A chat of ai 6 shows its own answer. The agent's hidden data in the result of a call that did not run is preserved.
      const lost = major === 6 ? ['answer'] : [];
      expect({ broken: broken(), lost: losses.map(({ what }) => what) }).toEqual({ broken: [], lost });
    });

    it('sends its state and custom events', async () => {
      const { chat, data, getShown, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'count' });
      expect(getShown()).toEqual(['count output-available "1"', 'text It says 1.']);
      expect(data).toEqual([
        ['data-state', { count: 1 }],
        ['data-state', { count: 2 }],
        ['data-test.counted', { by: 1 }],
      ]);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('receives an image', async () => {
      const { chat, getShown, broken, losses } = chatWith();
      await chat.sendMessage({
        text: 'look',
        files: [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=' }],
      });
      expect(getShown()).toEqual(['text I see image/png of 2 bytes.']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('reports an error in the middle of a run', async () => {
      const { chat, broken } = chatWith();
      await chat.sendMessage({ text: 'fail' });
      expect(chat.error?.message).toBe('The line went dead.');
      expect(broken()).toEqual([]);
      // The partial output of a failed run does not affect the next one.
      await chat.sendMessage({ text: 'text' });
      expect(chat.error).toBeUndefined();
    });

    it('rejects an invalid request', async () => {
      const { chat } = chatWith('nowhere');
      await chat.sendMessage({ text: 'text' });
      expect(chat.error?.message).toContain('answered 404');
    });

    it('runs its own test model', async () => {
      const { chat, getShown, broken, losses } = chatWith('plain', []);
      await chat.sendMessage({ text: 'Go.' });
      expect(getShown()).toEqual(['ping output-available "pong"', 'text All is well.']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('ends without an error when it is cancelled in the middle', async () => {
      const { chat, getShown } = chatWith();
      const sent = chat.sendMessage({ text: 'slow' });
      await vi.waitFor(() => expect(getShown()).toEqual(['text One ']), { timeout: 20_000 });
      await chat.stop();
      await sent;
      expect({ status: chat.status, getShown: getShown() }).toEqual({ status: 'ready', getShown: ['text One '] });
    });
  });
});

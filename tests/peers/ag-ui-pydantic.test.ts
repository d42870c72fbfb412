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

/** What of a part a page shows. */
function tell(part: { readonly [key: string]: unknown }): string[] {
  const { type, text, toolName = String(type).replace(/^tool-/, ''), state, output } = part;
  if (typeof text === 'string') return text === '' ? [] : [`${String(type)} ${text}`];
  return typeof part.toolCallId === 'string' ? [`${String(toolName)} ${String(state)} ${JSON.stringify(output)}`] : [];
}

describe("a real AG-UI server, pydantic-ai's", () => {
  let agent: PythonServer;

  beforeAll(async () => {
    if ('missing' in found) return;
    agent = await startPythonServer(found.python, path('server.py'));
  });
  afterAll(() => void agent?.process.kill());
  beforeEach((context) => context.skip('missing' in found, 'missing' in found ? found.missing : ''));

  describe.each(chatMajors)('and $name', ({ major, ai, createChat }) => {
    /** A chat with the agent, and all that the agent said to it. */
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
      const said = (): string[] => shown(chat.messages.at(-1)).flatMap(tell);
      /** Which rules of the protocol the agent itself has broken. */
      const broken = (): string[] => [...new Set(check(agUi, frames).violations.map(({ rule }) => rule))];
      return { chat, data, losses, said, broken };
    };

    it('says a text', async () => {
      const { chat, said, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'text' });
      expect(chat.error).toBeUndefined();
      expect(said()).toEqual(['text Hello ☃']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('thinks aloud', async () => {
      const { chat, said, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'think' });
      expect(said()).toEqual(['reasoning Hm, let me see.', 'text I see.']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('runs tools of its own, one or two, and is sent what they said', async () => {
      const { chat, said, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'weather' });
      const paris = '{"city":"Paris","degrees":21}';
      expect(said()).toEqual(['text Let me look. ', `weather output-available ${paris}`, `text It says ${paris}.`]);
      await chat.sendMessage({ text: 'both' });
      const rome = '{"city":"Rome","degrees":21}';
      expect(said()).toEqual([
        `weather output-available ${paris}`,
        `weather output-available ${rome}`,
        `text They say ${paris} and ${rome}.`,
      ]);
      expect(chat.error).toBeUndefined();
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('calls a tool of the page, and goes on with its result', async () => {
      const { chat, said, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'locate' });
      expect(said()).toEqual(['locate input-available undefined']);
      await chat.addToolOutput({ tool: 'locate' as never, toolCallId: 'call-locate', output: 'Rome' });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      expect(said()).toEqual(['locate output-available "Rome"', 'text It says Rome.']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it.each([
      [true, 'remove output-available "Paris is gone"', 'text It says Paris is gone.'],
      [false, 'remove output-available "Keep it."', 'text It says Keep it..'],
    ])('asks before it acts, and is told %s', async (approved, result, text) => {
      const { chat, said, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'remove' });
      expect(said()).toEqual(['remove approval-requested undefined']);
      const id = chat.messages
        .at(-1)!
        .parts.flatMap((part) => ('approval' in part ? (part.approval?.id ?? []) : []))[0]!;
      await chat.addToolApprovalResponse({ id, approved, ...(!approved && { reason: 'Keep it.' }) });
      await settled(chat);
      expect(chat.error).toBeUndefined();
      expect(said()).toEqual([result, text]);
      // A chat of 6 knows its own answer. What the agent has hidden in the result of a call that it did not run is kept for it.
      const lost = major === 6 ? ['answer'] : [];
      expect({ broken: broken(), lost: losses.map(({ what }) => what) }).toEqual({ broken: [], lost });
    });

    it('shares its state, and says what is its own', async () => {
      const { chat, data, said, broken, losses } = chatWith();
      await chat.sendMessage({ text: 'count' });
      expect(said()).toEqual(['count output-available "1"', 'text It says 1.']);
      expect(data).toEqual([
        ['data-state', { count: 1 }],
        ['data-state', { count: 2 }],
        ['data-test.counted', { by: 1 }],
      ]);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('sees a picture', async () => {
      const { chat, said, broken, losses } = chatWith();
      await chat.sendMessage({
        text: 'look',
        files: [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=' }],
      });
      expect(said()).toEqual(['text I see image/png of 2 bytes.']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('fails in the middle, and says why', async () => {
      const { chat, broken } = chatWith();
      await chat.sendMessage({ text: 'fail' });
      expect(chat.error?.message).toBe('The line went dead.');
      expect(broken()).toEqual([]);
      // What a run that failed has said does not keep the next one from being right.
      await chat.sendMessage({ text: 'text' });
      expect(chat.error).toBeUndefined();
    });

    it('says no to a request that is none', async () => {
      const { chat } = chatWith('nowhere');
      await chat.sendMessage({ text: 'text' });
      expect(chat.error?.message).toContain('answered 404');
    });

    it('plays its own test model', async () => {
      const { chat, said, broken, losses } = chatWith('plain', []);
      await chat.sendMessage({ text: 'Go.' });
      expect(said()).toEqual(['ping output-available "pong"', 'text All is well.']);
      expect({ broken: broken(), losses }).toEqual({ broken: [], losses: [] });
    });

    it('is left in the middle without a sound', async () => {
      const { chat, said } = chatWith();
      const sent = chat.sendMessage({ text: 'slow' });
      await vi.waitFor(() => expect(said()).toEqual(['text One ']), { timeout: 20_000 });
      await chat.stop();
      await sent;
      expect({ status: chat.status, said: said() }).toEqual({ status: 'ready', said: ['text One '] });
    });
  });
});

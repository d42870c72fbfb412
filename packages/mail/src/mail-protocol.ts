import type { Protocol } from '@intertie/core';
import { defined, readItemTime, toRunIds } from '@intertie/core/internal';
import { createMAILDecoder } from './decode/decode-mail.ts';
import { MAILChecker } from './decode/mail-checker.ts';
import { mailRules } from './decode/mail-rules.ts';
import { createMAILEncoder } from './encode/encode-mail.ts';
import { createMAIL } from './model/mail-provider.ts';
import { asFields, asNonEmptyText, parseJson, type Fields } from './shared/fields.ts';
import { wireEvents } from './shared/mail-event.ts';
import { mailSource } from './source/mail-source.ts';

const events: ReadonlySet<string> = new Set(wireEvents);

/** The event stream of a MAIL 1.3 server. An item is a frame, `{ event, data }`. */
export const mailProtocol: Protocol = {
  name: 'mail',
  label: 'MAIL 1.3',
  title: 'the event stream of a MAIL 1.3 server',
  framing: { mediaTypes: ['text/event-stream'], hasEventNames: true },
  rules: mailRules,
  looksLike: (item) => {
    const { event, data } = asFields(item);
    // Other protocols send pings too.
    return typeof event === 'string' && events.has(event) && event !== 'ping' && data !== undefined;
  },
  getKind: (item) => asNonEmptyText(asFields(item).event) ?? 'no event',
  startsRun: (item) => {
    const { message } = asFields(asFields(readData(item).extra_data).full_message);
    return asFields(asFields(message).sender).address_type === 'user';
  },
  endsRun: (item) => /^task_(?:complete|error)$/.test(asNonEmptyText(asFields(item).event) ?? ''),
  readRunIds: (item) => {
    const { task_id: threadId, timestamp: at } = readData(item);
    return toRunIds({ threadId, at });
  },
  readTime: (item) => readItemTime(readData(item).timestamp),
  checker: () => new MAILChecker(),
  decoder: (run, onLoss) => createMAILDecoder(run, { onLoss }),
  encoder: createMAILEncoder,
  items: {
    families: {
      run: ['new_message', 'task_*', 'interswarm_*'],
      agent: ['await_message', 'help_called'],
      tool: ['tool_call', 'builtin_tool_call', 'action_*'],
      people: ['breakpoint_*'],
      data: ['ping', 'broadcast_ignored'],
      notice: ['*_error'],
    },
  },
  examples: {
    chat: [['intertie chat http://localhost:8000 --as mail', 'A MAIL swarm:']],
    record: [['intertie record http://localhost:8000 --as mail -p "Hello"', 'A MAIL server:']],
    convert: [
      [
        'intertie convert --from mail --to canonical http://localhost:8000 -p "Hello"',
        'Send a prompt to a live MAIL server and convert the answer:',
      ],
    ],
  },
  client: {
    server: 'a MAIL server',
    matchesRoot: (root) => asNonEmptyText(asFields(root).protocol_version) !== undefined,
    createBody: ({ prompt, threadId }) => ({ subject: 'New Message', body: prompt, stream: true, task_id: threadId }),
    getUrl(url, headers) {
      const base = url.replace(/\/+$/, '').replace(/\/(?:ui\/)?message$/, '');
      const hasToken = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
      return `${base}${hasToken ? '/message' : '/ui/message'}`;
    },
    connect: ({ url, fetch, headers, token }) =>
      mailSource({ baseUrl: url, fetch, headers, ...defined({ authToken: token }) }),
    async probe({ url, token }) {
      const check = await createMAIL({ baseUrl: url, ...defined({ authToken: token }) }).check();
      if (!check.reachable) return undefined;
      const names = check.agents.map(({ name }) => name).join(', ') || 'a swarm';
      return {
        isFine: check.ok,
        found: `MAIL ${check.version ?? '?'} with ${names}`,
        ...defined({ next: check.next }),
      };
    },
  },
  replay: {
    path: '/ui/message',
    createHandler: async (tapes) => (await import('./encode/replay-mail.ts')).createMAILReplay(tapes),
  },
};

function readData(item: unknown): Fields {
  const { data } = asFields(item);
  return asFields(typeof data === 'string' ? parseJson(data) : data);
}

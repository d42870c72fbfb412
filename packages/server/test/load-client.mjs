// @ts-check
// node load-client.mjs <url> <streams> <words> <history requests per second> <protocol,…>: starts one client per stream, which reads a
// run to its end and checks that it received every word once and in order, and readers of history. Prints a line when all streams have
// started, and the measurements at the end.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [base = '', ...numbers] = process.argv.slice(2, 6);
const [streams = 1, words = 1, perSecond = 1] = numbers.map(Number);
const protocols = (process.argv[6] ?? 'chat').split(',');
const headers = { authorization: 'Bearer the-token-of-the-soak-test', 'content-type': 'application/json' };
/** History requests reuse connections; each stream has its own. */
const keepAliveAgent = new Agent({ keepAlive: true });

/** Histogram of milliseconds. */
class Times {
  #counts = new Uint32Array(120_000);
  #total = 0;
  /** @param {number} ms */
  add(ms) {
    this.#counts[Math.min(Math.max(0, Math.round(ms)), this.#counts.length - 1)] += 1;
    this.#total += 1;
  }
  /** @param {number} share */
  at(share) {
    let left = share * (this.#total - 1);
    return this.#counts.findIndex((count) => (left -= count) < 0);
  }
  summary() {
    return { count: this.#total, p50: this.at(0.5), p99: this.at(0.99), max: this.at(1) };
  }
}

/**
 * @param {string} path
 * @param {{ body?: unknown, agent?: Agent }} [options]
 * @returns {Promise<import('node:http').IncomingMessage>}
 */
function sendRequest(path, { body, agent } = {}) {
  return new Promise((resolve, reject) => {
    const sent = request(
      base + path,
      { method: body ? 'POST' : 'GET', headers, ...(agent && { agent }) },
      (response) => {
        if (response.statusCode === 200) return resolve(response);
        return reject(new Error(`${path}: ${response.statusCode}`));
      },
    );
    sent.on('error', (error) => {
      // The server may close a reused connection at the moment of the request. Clients retry in that case.
      if (sent.reusedSocket && 'code' in error && error.code === 'ECONNRESET')
        resolve(sendRequest(path, { body, agent }));
      else reject(new Error(`${path}: ${error.message}`, { cause: error }));
    });
    sent.end(body && JSON.stringify(body));
  });
}

/** @param {string} thread */
const chatBody = (thread) => ({
  id: thread,
  trigger: 'submit-message',
  messages: [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: 'Speak' }] }],
});

/** @type {{ [protocol: string]: (thread: string) => Promise<{ response: import('node:http').IncomingMessage, end: string }> }} */
const open = {
  chat: async (thread) => ({
    response: await sendRequest('/api/chat', { body: chatBody(thread) }),
    end: '"type":"finish"',
  }),
  'ag-ui': async (thread) => {
    const messages = [{ id: crypto.randomUUID(), role: 'user', content: 'Speak' }];
    const input = { threadId: thread, runId: crypto.randomUUID(), messages, tools: [], context: [], state: {} };
    const response = await sendRequest('/api/agents/speaker/ag-ui', { body: { ...input, forwardedProps: {} } });
    return { response, end: 'RUN_FINISHED' };
  },
  // Follows a run that another client started, by its id.
  events: async (thread) => {
    const begun = await sendRequest('/api/chat', { body: chatBody(thread) });
    begun.destroy();
    const response = await sendRequest(`/api/runs/${String(begun.headers['x-intertie-run'])}/events`);
    return { response, end: '"outcome":"complete"' };
  },
};

const first = new Times();
const delays = new Times();
const late = new Times();
let steadyFrom = Infinity;
let pieces = 0;
let begun = 0;
let resolveBegun = () => {};
/** @type {Promise<void>} */
const allBegun = new Promise((resolve) => void (resolveBegun = resolve));

/** @param {number} index */
async function follow(index) {
  const sentAt = Date.now();
  const protocol = protocols[index % protocols.length] ?? 'chat';
  const { response, end } = await open[protocol](`load-${index}`);
  first.add(Date.now() - sentAt);
  begun += 1;
  if (begun === streams) resolveBegun();
  response.setEncoding('utf8');
  let next = 0;
  let rest = '';
  for await (const piece of response) {
    const now = Date.now();
    pieces += 1;
    rest += piece;
    let read = 0;
    for (const match of rest.matchAll(/(\d+):(\d{13}) /g)) {
      if (Number(match[1]) !== next) throw new Error(`Stream ${index} received word ${match[1]} instead of ${next}.`);
      next += 1;
      delays.add(now - Number(match[2]));
      if (now >= steadyFrom) late.add(now - Number(match[2]));
      read = match.index + match[0].length;
    }
    rest = rest.slice(Math.max(read, rest.length - 2000));
  }
  if (next !== words) throw new Error(`Stream ${index} (${protocol}) ended after ${next} of ${words} words.`);
  if (!rest.includes(end)) throw new Error(`Stream ${index} (${protocol}) has no end event: ${rest}`);
}

const history = new Times();
const over = new AbortController();

/** @param {string} path */
async function readHistory(path) {
  const sentAt = performance.now();
  for await (const _ of await sendRequest(path, { agent: keepAliveAgent }));
  history.add(performance.now() - sentAt);
}

async function requestHistory() {
  const paths = ['/api/threads/history/messages?format=ui', '/api/threads?limit=50', '/api/threads/history'];
  const begunAt = performance.now();
  const requests = [];
  for (let n = 0; !over.signal.aborted; n += 1) {
    await sleep(Math.max(0, begunAt + (n * 1000) / perSecond - performance.now()));
    requests.push(readHistory(paths[n % paths.length] ?? ''));
  }
  await Promise.all(requests);
}

const reading = requestHistory();
const all = Array.from({ length: streams }, async (_, index) => {
  // Staggered, since the test measures live streams and not their start.
  await sleep(index * 15);
  await follow(index);
});
const ended = Promise.all(all);
await Promise.race([allBegun, ended]);
steadyFrom = Date.now();
process.stdout.write('begun\n');
await ended;
over.abort();
await reading;
const { user, system } = process.cpuUsage();
process.stdout.write(
  `${JSON.stringify({
    first: first.summary(),
    delays: delays.summary(),
    steady: late.summary(),
    history: history.summary(),
    pieces,
    cpuMs: (user + system) / 1000,
    wallMs: performance.now(),
  })}\n`,
);
process.exit(0);

// One of several servers with an agent that continues its runs: `node recovering-node.mjs <database> <delay> <file> [<sweep>]`. Appends
// the calls that its tools execute to the file. Prints its URL, and hands its runs over on SIGTERM.
import { appendFileSync } from 'node:fs';

import { recoveringModel, recoveringTools } from '../../agent/test/recovering-agent.mjs';
import { model } from '../dist/index.js';
import { serve } from '../dist/serve.js';

const [url, delay, file, sweep] = process.argv.slice(2);
const delayMs = Number(delay);
const tools = recoveringTools({ delayMs, onTool: (call) => appendFileSync(file, `${call}\n`) });
const agents = { recovering: model(recoveringModel(delayMs), { tools, recover: 'step' }) };
const served = await serve(
  { agents, database: { url }, limits: { requestsPerSecond: 10_000 } },
  { port: 0, runs: sweep ? { sweepMs: Number(sweep) } : {} },
);
process.stdout.write(`${served.url}\n`);
// The test that started this process has ended.
process.stdin.on('end', () => process.exit(1)).resume();
process.once('SIGTERM', () => void served.close({ drainMs: 30_000 }).then(() => process.exit(0)));

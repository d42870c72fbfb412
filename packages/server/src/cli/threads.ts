import { writeFile } from 'node:fs/promises';
import { asFields, asNonEmptyText, type Fields } from '@intertie/core/internal';
import { paintFor, type Paint } from './paint.ts';
import { printable } from './printable.ts';
import { createServerClient, type ServerOptions } from './server-client.ts';
import { exitCodes, ToolError, type ToolExit } from './tool-error.ts';
import type { Sink, ToolIO } from './tool-io.ts';

export interface ThreadsOptions extends ServerOptions {
  json?: boolean | undefined;
}

/** Lists the newest threads of a server. */
export async function listThreads(
  options: ThreadsOptions & { search?: string | undefined; limit?: number | undefined },
  io: ToolIO,
): Promise<ToolExit> {
  const { search, limit = 20, json } = options;
  const query = new URLSearchParams({ limit: String(limit), ...(search !== undefined && { search }) });
  const response = asFields(await createServerClient(options, io).get(`/api/threads?${query.toString()}`));
  const threads = asList(response.threads);
  if (json) {
    await io.stdout.write(`${JSON.stringify(response)}\n`);
    return exitCodes.ok;
  }
  const paint = paintFor(io.stdout, io.env);
  if (threads.length === 0)
    await io.stderr.write(search === undefined ? 'There are no threads.\n' : `No thread matches “${search}”.\n`);
  const width = Math.max(...threads.map(({ id }) => String(id).length), 0);
  for (const { id, title, agent, updatedAt } of threads) {
    const time = asNonEmptyText(updatedAt)?.slice(0, 16).replace('T', ' ') ?? '';
    const agentLabel = asNonEmptyText(agent) === undefined ? '' : paint('cyan', ` ${printable(String(agent))}`);
    await io.stdout.write(
      `${printable(String(id)).padEnd(width)}  ${paint('dim', time)}${agentLabel}  ${printable(asNonEmptyText(title) ?? '')}\n`,
    );
  }
  if (asNonEmptyText(response.cursor) !== undefined)
    await io.stderr.write(paint('dim', 'There are more threads: use --limit or --search.\n'));
  return exitCodes.ok;
}

/** Shows the messages of a thread. */
export async function showThread(options: ThreadsOptions & { thread: string }, io: ToolIO): Promise<ToolExit> {
  const path = toThreadPath(options.thread);
  const client = createServerClient(options, io);
  const [details, listing] = await Promise.all([client.get(path), client.get(`${path}/messages?format=ui`)]);
  if (options.json) {
    await io.stdout.write(`${JSON.stringify({ ...asFields(details), ...asFields(listing) })}\n`);
    return exitCodes.ok;
  }
  const paint = paintFor(io.stdout, io.env);
  const { thread, live } = asFields(details);
  await io.stdout.write(`${paint('bold', printable(asNonEmptyText(asFields(thread).title) ?? options.thread))}\n`);
  for (const message of asList(asFields(listing).messages)) {
    await showMessage(message, io.stdout, paint);
  }
  const { agent } = asFields(live);
  if (asNonEmptyText(agent) !== undefined)
    await io.stdout.write(paint('dim', `\n${printable(String(agent))} is writing.\n`));
  return exitCodes.ok;
}

async function showMessage({ role, parts }: Fields, out: Sink, paint: Paint): Promise<void> {
  await out.write(`\n${paint(role === 'user' ? 'bold' : 'cyan', printable(String(role)))}\n`);
  for (const part of asList(parts)) {
    const line = partText(part, paint);
    if (line !== '') await out.write(`${line}\n`);
  }
}

function partText(part: Fields, paint: Paint): string {
  const type = String(part.type);
  if (type === 'text') return printable(String(part.text), '\n\t');
  if (type === 'reasoning') return paint('dim', printable(String(part.text), '\n\t'));
  if (type === 'file')
    return paint('dim', `▤ ${printable(asNonEmptyText(part.filename) ?? asNonEmptyText(part.mediaType) ?? 'a file')}`);
  if (!type.startsWith('tool-') && type !== 'dynamic-tool') return '';
  const name = asNonEmptyText(part.toolName) ?? type.slice('tool-'.length);
  const result =
    asNonEmptyText(part.errorText) ?? (part.output === undefined ? String(part.state) : JSON.stringify(part.output));
  return `⚙ ${printable(name)} ${paint('dim', printable(`${JSON.stringify(part.input) ?? ''} → ${result}`.slice(0, 400)))}`;
}

/** Exports a thread with all branches as JSON lines. */
export async function exportThread(
  options: ThreadsOptions & { thread: string; output?: string | undefined },
  io: ToolIO,
): Promise<ToolExit> {
  const response = await createServerClient(options, io).request(`${toThreadPath(options.thread)}/export`);
  if (options.output !== undefined && options.output !== '-') {
    await writeFile(options.output, response.body ?? '');
    await io.stderr.write(`${options.output}\n`);
    return exitCodes.ok;
  }
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) await io.stdout.write(decoder.decode(chunk, { stream: true }));
  return exitCodes.ok;
}

/** Deletes threads permanently. Requires `yes`. */
export async function deleteThreads(
  options: ThreadsOptions & { threads: readonly string[]; yes?: boolean | undefined },
  io: ToolIO,
): Promise<ToolExit> {
  if (!options.yes) {
    const target =
      options.threads.length === 1 ? `the thread ${options.threads[0]}` : `${options.threads.length} threads`;
    throw new ToolError(
      'usage',
      `This deletes ${target} permanently.`,
      'Confirm with --yes. To make a copy first: intertie threads export',
    );
  }
  const client = createServerClient(options, io);
  for (const thread of options.threads) {
    await client.request(toThreadPath(thread), { method: 'DELETE' });
    if (!options.json) await io.stderr.write(`Deleted ${thread}.\n`);
  }
  if (options.json) await io.stdout.write(`${JSON.stringify({ deleted: options.threads })}\n`);
  return exitCodes.ok;
}

function toThreadPath(thread: string): string {
  return `/api/threads/${encodeURIComponent(thread)}`;
}

function asList(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(asFields) : [];
}

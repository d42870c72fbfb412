import { readFileSync } from 'node:fs';
import { InvalidArgumentError, type Command as Program } from 'commander';
import type { EndpointOptions } from '../cli/input/ask-endpoint.ts';
import { defaultServer } from '../cli/server-client.ts';
import { ToolError } from '../cli/tool-error.ts';

/** What the options for endpoints give, as commander names it. */
export type EndpointFlags = {
  prompt?: string;
  body?: string;
  header?: Record<string, string>;
  get?: true;
  timeout?: number;
};

/** The options of every command that may ask an endpoint. */
export function addEndpointOptions(command: Program): Program {
  return command
    .option('-p, --prompt <text>', 'what a live endpoint is asked')
    .option('--body <json|file>', 'send this request instead of one made up for the prompt')
    .option('-H, --header <name: value>', 'send a header; may be repeated', readHeader)
    .option('--get', 'the URL is a stream that is just there: read it, ask nothing')
    .option('--timeout <seconds>', 'how long an endpoint may be silent (default: 60)', readPositive);
}

export function toEndpointOptions({ prompt, body, header, get, timeout }: EndpointFlags): EndpointOptions {
  return {
    prompt,
    body: body === undefined ? undefined : readBody(body),
    headers: header,
    get,
    timeoutMs: timeout === undefined ? undefined : timeout * 1000,
  };
}

/** JSON as it stands, or the file that holds it. */
function readBody(given: string): string {
  const text = /^\s*[[{]/.test(given) ? given : readBodyFile(given);
  try {
    JSON.parse(text);
  } catch (error) {
    throw new ToolError('usage', `The request of --body is no JSON: ${(error as Error).message}`);
  }
  return text;
}

function readBodyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const fix = 'Give JSON, such as \'{"messages":[…]}\', or the name of a file that holds it.';
    throw new ToolError('usage', `--body ${file} cannot be read: ${(error as Error).message}`, fix);
  }
}

function readHeader(given: string, before: Record<string, string> = {}): Record<string, string> {
  const colon = given.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('Write it as in "authorization: Bearer …".');
  return { ...before, [given.slice(0, colon).trim()]: given.slice(colon + 1).trim() };
}

export function readPositive(given: string): number {
  const value = Number(given);
  if (!(value > 0)) throw new InvalidArgumentError('Give a number above 0.');
  return value;
}

export function readPort(given: string): number {
  const value = Number(given);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('Give a number up to 65535.');
  return value;
}

export function readUIVersion(given: string): 6 | 7 {
  if (given !== '6' && given !== '7') throw new InvalidArgumentError('It is 6 or 7.');
  return given === '6' ? 6 : 7;
}

/** Whether JSON is asked for, before or after the command's name. */
export function wantsJson(command: Program): boolean {
  return command.optsWithGlobals<{ json?: true }>().json === true;
}

/** Examples below a command's help. */
export function addExamples(command: Program, examples: ReadonlyArray<readonly [line: string, what: string]>): Program {
  const lines = examples.map(([line, what]) => `  ${what}\n    $ ${line}\n`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('')}`);
}

export type ServerFlags = { server?: string; token?: string; header?: Record<string, string> };

/** The options of every command that talks to an Intertie server. */
export function addServerOptions(command: Program): Program {
  return command
    .option('--server <url>', `an Intertie server (default: INTERTIE_URL, or ${defaultServer})`)
    .option('--token <token>', 'what it asks for (default: INTERTIE_TOKEN)')
    .option('-H, --header <name: value>', 'send a header; may be repeated', readHeader);
}

import { readFileSync } from 'node:fs';
import { InvalidArgumentError, type Command as Program } from 'commander';
import type { Protocol } from '@intertie/core';
import { asText } from '@intertie/core/internal';
import type { SelectedVariants } from '../cli/formats/protocol-list.ts';
import type { EndpointOptions } from '../cli/input/request-endpoint.ts';
import { defaultServer } from '../cli/server-client.ts';
import { ToolError } from '../cli/tool-error.ts';

/** Values of the endpoint options, as commander names them. */
export type EndpointFlags = {
  prompt?: string;
  body?: string;
  header?: Record<string, string>;
  get?: true;
  timeout?: number;
};

/** Adds the options of commands that can request an endpoint. */
export function addEndpointOptions(command: Program): Program {
  return command
    .option('-p, --prompt <text>', 'message to send to a live endpoint')
    .option('--body <json|file>', 'complete request body to send instead')
    .option('-H, --header <name: value>', 'add a header; may be repeated', readHeader)
    .option('--get', 'read the URL as an existing stream, without a request body')
    .option('--timeout <seconds>', 'maximum time without data (default: 60)', readPositive);
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

/** Reads `--body`: JSON, or the name of a JSON file. */
function readBody(given: string): string {
  const text = /^\s*[[{]/.test(given) ? given : readBodyFile(given);
  try {
    JSON.parse(text);
  } catch (error) {
    throw new ToolError('usage', `The value of --body is not valid JSON: ${(error as Error).message}`);
  }
  return text;
}

function readBodyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const fix = 'Give JSON, such as \'{"messages":[…]}\', or the name of a JSON file.';
    throw new ToolError('usage', `Cannot read --body ${file}: ${(error as Error).message}`, fix);
  }
}

function readHeader(given: string, before: Record<string, string> = {}): Record<string, string> {
  const colon = given.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('Use the form "authorization: Bearer …".');
  return { ...before, [given.slice(0, colon).trim()]: given.slice(colon + 1).trim() };
}

export function readPositive(given: string): number {
  const value = Number(given);
  if (!(value > 0)) throw new InvalidArgumentError('Use a number above 0.');
  return value;
}

export function readPort(given: string): number {
  if (/^\d{1,5}$/.test(given) && Number(given) < 65_536) return Number(given);
  throw new InvalidArgumentError('Use a number from 0 to 65535.');
}

/** Adds an option for each protocol that has several versions. */
export function addVariantOptions(command: Program, protocols: readonly Protocol[]): void {
  for (const { variants } of protocols) {
    if (!variants) continue;
    const { option, description, names } = variants;
    const read = (given: string): string => {
      if (names.includes(given)) return given;
      throw new InvalidArgumentError(`Use ${names.join(' or ')}.`);
    };
    command.option(`--${option} <version>`, `${description}: ${names.join(' or ')}`, read);
  }
}

/** Returns the versions that were selected, by option. */
export function readVariants(command: Program, protocols: readonly Protocol[]): SelectedVariants {
  const given: { [option: string]: unknown } = command.opts();
  const options = protocols.flatMap(({ variants }) => variants?.option ?? []);
  return Object.fromEntries(options.map((option) => [option, asText(given[camelCase(option)])]));
}

/** Name under which commander stores an option. */
function camelCase(option: string): string {
  return option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Names of the protocols that have an optional capability. */
export function listWith(protocols: readonly Protocol[], key: keyof Protocol): string[] {
  return protocols.filter((protocol) => protocol[key] !== undefined).map(({ name }) => name);
}

/** Whether `--json` was given, before or after the name of the command. */
export function wantsJson(command: Program): boolean {
  return command.optsWithGlobals<{ json?: true }>().json === true;
}

type Example = readonly [line: string, title: string];

/** Lists the examples that the protocols have for a command. */
export function listExamples(protocols: readonly Protocol[], command: string): Example[] {
  return protocols.flatMap(({ examples }) => examples?.[command] ?? []);
}

/** Adds examples below the help of a command. */
export function addExamples(command: Program, examples: readonly Example[]): Program {
  const lines = examples.map(([line, title]) => `  ${title}\n    $ ${line}\n`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('')}`);
}

export type ServerFlags = { server?: string; token?: string; header?: Record<string, string> };

/** Adds the options of commands that use an Intertie server. */
export function addServerOptions(command: Program): Program {
  return command
    .option('--server <url>', `an Intertie server (default: INTERTIE_URL, or ${defaultServer})`)
    .option('--token <token>', 'token for the server (default: INTERTIE_TOKEN)')
    .option('-H, --header <name: value>', 'add a header; may be repeated', readHeader);
}

// @ts-check
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} Child a program of this folder in a separate process
 * @property {string} url where it listens; empty for one that does not
 * @property {(what: string, details?: object) => Promise<any>} ask
 * @property {() => Promise<void>} stop
 */

/**
 * Parent side: starts a program and sends it requests.
 * @param {string} program relative to this folder
 * @param {string[]} [args]
 * @returns {Promise<Child>}
 */
export async function startChild(program, args = []) {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = fork(path, args, {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production', COPILOTKIT_TELEMETRY_DISABLED: 'true', DO_NOT_TRACK: '1' },
  });
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (error: Error) => void }>} */
  const open = new Map();
  let count = 0;
  const exited = once(child, 'exit').then(([code]) => {
    const error = new Error(`${program} ended with ${code}.`);
    for (const { reject } of open.values()) reject(error);
    return error;
  });
  /** @type {Promise<{ url: string }>} */
  const started = new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(/** @type {{ url: string }} */ (message)));
    void exited.then(reject);
  });
  child.on('message', (message) => {
    const { id, value, error } = /** @type {{ id: number, value: unknown, error?: string }} */ (message);
    const pending = open.get(id);
    open.delete(id);
    if (error === undefined) pending?.resolve(value);
    else pending?.reject(new Error(`${program}: ${error}`));
  });
  const { url } = await started;
  return {
    url,
    ask: (what, details = {}) =>
      new Promise((resolve, reject) => {
        open.set(++count, { resolve, reject });
        child.send({ id: count, what, with: details });
      }),
    async stop() {
      if (child.connected) child.disconnect();
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/**
 * Child side: reports that it is ready, answers requests, and exits with its parent.
 * @param {Record<string, (details: any) => unknown>} answers
 * @param {{ url?: string, close?: () => Promise<void> }} [server]
 */
export function runChild(answers, { url = '', close = async () => undefined } = {}) {
  process.on('message', async (message) => {
    const { id, what, with: details } = /** @type {{ id: number, what: string, with: object }} */ (message);
    try {
      process.send?.({ id, value: await answers[what]?.(details) });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
  process.once('disconnect', () => void close().finally(() => process.exit(0)));
  process.send?.({ url });
}

import { printable } from '../cli/printable.ts';

/** Receives the log events of the server. Fields never contain secrets. */
export interface Logger {
  log(level: LogLevel, event: string, fields?: LogFields): void;
}
export type LogLevel = 'info' | 'warn' | 'error';
export type LogFields = { readonly [name: string]: string | number | boolean | undefined };

export const silentLogger: Logger = { log: () => undefined };

/** Logs one JSON object per line. */
export function jsonLogger(write: (line: string) => void, now: () => Date = () => new Date()): Logger {
  return {
    log: (level, event, fields) => write(JSON.stringify({ at: now().toISOString(), level, event, ...fields })),
  };
}

/** Logs warnings and errors as readable lines. */
export function plainLogger(write: (line: string) => void): Logger {
  return {
    log(level, event, fields = {}) {
      if (level === 'info') return;
      const rest = Object.entries(fields).flatMap(([name, value]) => {
        // Clients choose the path, so it must not start a new line. Errors may have several lines.
        const lines = name === 'error' || name === 'cause' ? '\n' : '';
        return value === undefined ? [] : [`${name}=${printable(String(value), lines)}`];
      });
      write([`${level}: ${event}`, ...rest].join(' '));
    },
  };
}

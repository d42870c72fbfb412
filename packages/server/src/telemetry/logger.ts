import { printable } from '../cli/printable.ts';

/** What the server says about itself: an event and its fields, never a secret. */
export interface Logger {
  log(level: LogLevel, event: string, fields?: LogFields): void;
}
export type LogLevel = 'info' | 'warn' | 'error';
export type LogFields = { readonly [name: string]: string | number | boolean | undefined };

export const silentLogger: Logger = { log: () => undefined };

/** One JSON object a line, for whoever collects logs. */
export function jsonLogger(write: (line: string) => void, now: () => Date = () => new Date()): Logger {
  return {
    log: (level, event, fields) => write(JSON.stringify({ at: now().toISOString(), level, event, ...fields })),
  };
}

/** For a person: only what needs attention, one readable line each. */
export function plainLogger(write: (line: string) => void): Logger {
  return {
    log(level, event, fields = {}) {
      if (level === 'info') return;
      const rest = Object.entries(fields).flatMap(([name, value]) => {
        // A path is a caller's word: it must not begin a line of its own. What failed and why has lines.
        const lines = name === 'error' || name === 'cause' ? '\n' : '';
        return value === undefined ? [] : [`${name}=${printable(String(value), lines)}`];
      });
      write([`${level}: ${event}`, ...rest].join(' '));
    },
  };
}

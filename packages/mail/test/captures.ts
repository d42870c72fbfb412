import { readdirSync, readFileSync } from 'node:fs';
import { createParser } from 'eventsource-parser';
import type { RunInput } from '@intertie/core';
import type { MAILFrame } from '../src/shared/mail-event.ts';
import { runInput } from '../../core/test/run-input.ts';

const folder = new URL('../fixtures/', import.meta.url);

/** Names of all recorded streams. */
export const captures: string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.sse'))
  .toSorted((a, b) => (a < b ? -1 : 1));

export function readCaptureBytes(name: string): Uint8Array {
  return readFileSync(new URL(name, folder));
}

/** Returns the capture whose name starts with the number. */
export function findCapture(number: string): string {
  const name = captures.find((capture) => capture.startsWith(`${number}-`));
  if (name === undefined) throw new Error(`No capture ${number} in ${folder.pathname}.`);
  return name;
}

export function readCaptureFrames(name: string): MAILFrame[] {
  const frames: MAILFrame[] = [];
  const parser = createParser({ onEvent: ({ event = '', data }) => void frames.push({ event, data }) });
  parser.feed(new TextDecoder().decode(readCaptureBytes(name)));
  return frames;
}

export const run: RunInput = runInput({ runId: 'r', threadId: 't', messageId: 'm' });

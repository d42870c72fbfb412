import { styleText } from 'node:util';
import type { Sink, ToolIO } from './tool-io.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** Creates a function that colours text in terminals, unless `NO_COLOR` is set. */
export function paintFor({ isTerminal }: Sink, env: ToolIO['env']): Paint {
  const isPlain = Boolean(env.NO_COLOR) || env.TERM === 'dumb' || (!isTerminal && !env.FORCE_COLOR);
  return isPlain ? (_, text) => text : (style, text) => styleText(style, text, { validateStream: false });
}

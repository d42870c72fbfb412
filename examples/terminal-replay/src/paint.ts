import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** Colours where a terminal is, unless `NO_COLOR` says otherwise. */
export function paintFor({ isTTY }: { isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const plain = env.NO_COLOR || env.TERM === 'dumb' || (!isTTY && !env.FORCE_COLOR);
  return plain ? (_, text) => text : (style, text) => styleText(style, text);
}

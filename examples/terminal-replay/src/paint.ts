import { styleText } from 'node:util';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** Uses colours on a terminal, unless `NO_COLOR` is set. */
export function paintFor({ isTTY }: { isTTY?: boolean }, env: NodeJS.ProcessEnv): Paint {
  const plain = env.NO_COLOR || env.TERM === 'dumb' || (!isTTY && !env.FORCE_COLOR);
  return plain ? (_, text) => text : (style, text) => styleText(style, text);
}

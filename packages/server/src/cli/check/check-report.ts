import { defined } from '@intertie/core/internal';
import { framingNames, type Framing } from '../formats/frame.ts';
import type { Protocol } from '@intertie/core';
import type { ItemStream } from '../input/open-stream.ts';
import type { Paint } from '../paint.ts';
import { printable } from '../printable.ts';
import type { BrokenRule, Finding, StreamCheck } from './stream-check.ts';
import type { ToolError } from '../tool-error.ts';

/** Result of a check, with everything that the report shows. */
export interface CheckedStream {
  label: string;
  /** Prompt that was sent to the endpoint. */
  prompt: string | undefined;
  stream: ItemStream;
  check: StreamCheck;
  /** Detected protocol, whatever protocol was checked. */
  looksLike: Protocol | undefined;
  /** Duration, for endpoints only. */
  ms: number | undefined;
  /** Error that ended the stream early. */
  failure: ToolError | undefined;
}

const maxKinds = 12;

/** Report as JSON, with the first places of each violated rule. */
export function toCheckJson({ label, stream, check, looksLike, ms, failure }: CheckedStream): object {
  return {
    input: label,
    protocol: stream.known.name,
    ...(looksLike && { looksLike: looksLike.name }),
    framing: stream.framing,
    ok: check.violations === 0 && failure === undefined,
    items: check.items,
    streams: check.streams,
    ...defined({ ms }),
    kinds: Object.fromEntries(check.kinds),
    violations: check.violations,
    rules: [...check.broken.values()].map(ruleJson),
    losses: check.lossReport.entries,
    ...(failure && { error: { message: failure.message, ...defined({ fix: failure.fix }) } }),
  };
}

function ruleJson({ id: rule, sentence, fix, count, findings }: BrokenRule): object {
  const places = findings.map(({ item, line, message, path, text }) => ({ item, line, message, path, text }));
  return { rule, sentence, fix, count, findings: places };
}

/** Report as text. */
export function formatCheck(checked: CheckedStream, columns: number, paint: Paint): string {
  const { stream, check, failure } = checked;
  const lines = [...heading(checked, paint), ''];
  for (const broken of check.broken.values()) lines.push(...formatRule(broken, stream.framing, columns, paint), '');
  if (check.lossReport.total > 0) lines.push(paint('dim', 'Also seen:'), check.lossReport.format(paint));
  if (failure) {
    lines.push(`${paint('red', '✗')} The stream could not be read to its end: ${failure.message}`);
    if (failure.fix !== undefined) lines.push(`  ${failure.fix}`);
  }
  lines.push(verdict(checked, paint));
  return `${lines.join('\n')}\n`;
}

function heading({ label, prompt, stream, check, looksLike, ms }: CheckedStream, paint: Paint): string[] {
  const { known, framing } = stream;
  const lines = [
    `${paint('bold', label)}${prompt === undefined ? '' : paint('dim', `, prompt: ${prompt}`)}`,
    `  ${paint('cyan', known.name)}: ${known.title}, in ${framingNames[framing]}`,
  ];
  const kinds = [...check.kinds].toSorted((a, b) => b[1] - a[1]);
  const shown = kinds.slice(0, maxKinds).map(([kind, count]) => `${count} ${kind}`);
  if (kinds.length > maxKinds) shown.push(plural(kinds.length - maxKinds, 'other kind'));
  const time = ms === undefined ? '' : ` in ${(ms / 1000).toFixed(1)} s`;
  const streams = check.streams > 1 ? ` in ${check.streams} streams` : '';
  lines.push(
    `  ${plural(check.items, 'item')}${time}${streams}${shown.length > 0 ? paint('dim', ` (${shown.join(', ')})`) : ''}`,
  );
  if (looksLike && looksLike !== known && check.violations > 0) {
    lines.push(`  ${paint('yellow', '!')} It looks like ${looksLike.title}. To check that: --as ${looksLike.name}`);
  }
  return lines;
}

function formatRule(
  { id, sentence, fix, count, findings }: BrokenRule,
  framing: Framing,
  columns: number,
  paint: Paint,
): string[] {
  const times = count > 1 ? paint('dim', ` (${count} times)`) : '';
  const lines = [`${paint('red', '✗')} ${paint('bold', id)}  ${sentence}${times}`];
  for (const finding of findings) lines.push(...formatFinding(finding, framing, columns, paint));
  if (count > findings.length)
    lines.push(paint('dim', `  … and ${count - findings.length} more; --max ${count} shows them all`));
  lines.push(`  ${paint('green', 'fix')}  ${fix}`);
  return lines;
}

function formatFinding(
  { item, line, message, path, text, before }: Finding,
  framing: Framing,
  columns: number,
  paint: Paint,
): string[] {
  const place = [
    item === undefined ? undefined : `item ${item}`,
    line === undefined || framing === 'json' ? undefined : `line ${line}`,
  ].filter((part) => part !== undefined);
  const at = place.length === 0 ? 'at the end' : place.join(', ');
  const where = path === undefined ? '' : paint('dim', ` (${path})`);
  const lines = [`  ${paint('yellow', at)}: ${message}${where}`];
  const width = Math.max(20, columns - 8);
  if (before !== '') lines.push(paint('dim', `      ${excerpt(before, path === undefined ? undefined : '', width)}`));
  if (text !== '') lines.push(`    ${paint('red', '›')} ${excerpt(text, path, width)}`);
  return lines;
}

/** Shortens text to one line that contains the field that the path names, if it can be found. */
function excerpt(text: string, path: string | undefined, width: number): string {
  const clean = printable(text);
  if (clean.length <= width) return clean;
  const key = path?.split(/[.[\]]+/).findLast((part) => part !== '' && !/^\d+$/.test(part));
  const found = key === undefined ? -1 : clean.indexOf(`"${key}"`);
  const start = found < width - 20 ? 0 : Math.min(found - 20, clean.length - width + 1);
  return `${start > 0 ? '…' : ''}${clean.slice(start, start + width - 2)}…`;
}

function verdict({ stream, check, failure }: CheckedStream, paint: Paint): string {
  const rules = plural(stream.known.rules.length, 'rule');
  if (check.violations > 0) {
    return paint('red', `${plural(check.violations, 'violation')} of ${plural(check.broken.size, 'rule')}.`);
  }
  if (failure) return paint('yellow', `No violations of ${rules} up to the failure.`);
  return paint('green', `✓ No violations of ${rules}.`);
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

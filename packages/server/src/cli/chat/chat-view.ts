import type { AgentEvent, EventOf, Usage } from '@intertie/core';
import type { Paint, Style } from '../paint.ts';
import { printable } from '../printable.ts';
import type { Sink } from '../tool-io.ts';

const agentStyles: readonly Style[] = ['cyan', 'magenta', 'green', 'blue', 'yellow'];

/** Text part that is being streamed, with the text that is not printed yet. Parts wait while another one is printed. */
type OpenPart = { prefix: string; style: Style | undefined; text: string; hasEnded: boolean };

export interface ChatViewOptions {
  out: Sink;
  paint: Paint;
  /** Whether reasoning is printed as it arrives, or summarized in one line. */
  showReasoning: boolean;
}

/** Prints a run. A terminal has one cursor, so parallel parts are printed one after the other, with notes in between. */
export class ChatView {
  showReasoning: boolean;
  /** Last summarized reasoning, for `/reasoning`. */
  lastReasoning = '';
  #out: Sink;
  #paint: Paint;
  #agents = new Map<string, { name: string; style: Style }>();
  #styles = new Map<string, Style>();
  #openParts = new Map<string, OpenPart>();
  #hiddenReasoning = new Map<string, string>();
  #notes = 0;
  #isLineOpen = false;
  #hasStatus = false;

  constructor({ out, paint, showReasoning }: ChatViewOptions) {
    this.#out = out;
    this.#paint = paint;
    this.showReasoning = showReasoning;
  }

  feed(event: AgentEvent): void {
    switch (event.type) {
      case 'message-snapshot':
        for (const [id, { name }] of Object.entries(event.content.agents ?? {})) this.#addAgent(id, name);
        return;
      case 'agent-start':
        return this.#addAgent(event.agentId, event.name);
      case 'text-start':
        return this.#startPart(event.id, event, event.internal ? 'dim' : undefined);
      case 'reasoning-start':
        if (this.showReasoning) return this.#startPart(event.id, event, 'dim');
        this.#hiddenReasoning.set(event.id, '');
        return this.#status('thinking…');
      case 'text-delta':
        return this.#appendDelta(event.id, event.delta);
      case 'reasoning-delta':
        if (!this.#hiddenReasoning.has(event.id)) return this.#appendDelta(event.id, event.delta);
        this.#hiddenReasoning.set(event.id, this.#hiddenReasoning.get(event.id) + event.delta);
        return;
      case 'text-end':
        return this.#endPart(event.id);
      case 'reasoning-end':
        return this.#hiddenReasoning.has(event.id) ? this.#summarizeReasoning(event.id) : this.#endPart(event.id);
      case 'tool-input-start':
        return this.#status(`${event.toolName}…`);
      case 'tool-call':
        return this.note(
          `${this.#label(event)}⚙ ${this.#paint('bold', printable(event.toolName))} ${this.#json(event.input)}`,
        );
      case 'tool-result':
        return this.note(`  ${this.#result(event)}`);
      case 'source':
        return this.note(
          this.#paint(
            'dim',
            `  ▸ ${printable(event.title ?? event.filename ?? event.url ?? '')} ${printable(event.url ?? '')}`.trimEnd(),
          ),
        );
      case 'file':
        return this.note(this.#paint('dim', `  ▤ ${printable(event.filename ?? event.mimeType ?? 'a file')}`));
      case 'notice':
        return this.note(this.#paint(noticeStyles[event.level], `  ${printable(event.message)}`));
      case 'run-end':
        return this.#end(event);
      default:
        // Steps, state and data are for graphical clients.
        return;
    }
  }

  /** Prints a line after the parts that are being streamed. */
  note(text: string): void {
    if (this.#openParts.size > 0) {
      this.#notes += 1;
      this.#openParts.set(`note ${this.#notes}`, { prefix: `${text}\n`, style: undefined, text: '', hasEnded: true });
      return;
    }
    this.#closeLine();
    this.#write(`${text}\n`);
  }

  #addAgent(id: string, name: string): void {
    if (!this.#styles.has(name)) this.#styles.set(name, agentStyles[this.#styles.size % agentStyles.length]!);
    this.#agents.set(id, { name: printable(name), style: this.#styles.get(name)! });
  }

  #label({ agentId, to }: { agentId?: string; to?: string[] }): string {
    const agent = agentId === undefined ? undefined : this.#agents.get(agentId);
    if (!agent) return '';
    const receivers = to && to.length > 0 ? this.#paint('dim', ` → ${printable(to.join(', '))}`) : '';
    return `${this.#paint(agent.style, agent.name)}${receivers} `;
  }

  #startPart(id: string, event: EventOf<'text-start' | 'reasoning-start'>, style: Style | undefined): void {
    const part = { prefix: this.#label(event), style, text: '', hasEnded: false };
    this.#openParts.set(id, part);
    if (this.#openParts.size === 1) this.#flushPart(part);
  }

  #appendDelta(id: string, delta: string): void {
    const part = this.#openParts.get(id);
    if (!part) return;
    part.text += delta;
    if (this.#openParts.keys().next().value === id) this.#flushPart(part);
  }

  #endPart(id: string): void {
    const ended = this.#openParts.get(id);
    if (!ended) return;
    ended.hasEnded = true;
    for (const [first, part] of this.#openParts) {
      this.#flushPart(part);
      if (!part.hasEnded) return;
      this.#openParts.delete(first);
      this.#closeLine();
    }
  }

  #flushPart(part: OpenPart): void {
    const text = printable(part.text, '\n\t');
    const isNote = part.prefix.endsWith('\n');
    if (text === '' && !isNote) return;
    part.text = '';
    if (part.prefix !== '' && !this.#isLineOpen) this.#write(part.prefix);
    part.prefix = '';
    if (isNote) return;
    this.#write(part.style ? this.#paint(part.style, text) : text);
    this.#isLineOpen = !text.endsWith('\n');
  }

  #summarizeReasoning(id: string): void {
    const reasoning = this.#hiddenReasoning.get(id) ?? '';
    this.#hiddenReasoning.delete(id);
    const words = reasoning.split(/\s+/).filter(Boolean).length;
    if (words === 0) return this.#clearStatus();
    this.lastReasoning = reasoning;
    this.note(this.#paint('dim', `  (reasoning: ${words} ${words === 1 ? 'word' : 'words'}; /reasoning shows it)`));
  }

  #result(event: EventOf<'tool-result'>): string {
    if (event.status === 'error') return this.#paint('red', `↳ ${printable(event.error.message)}`);
    if (event.status === 'denied')
      return this.#paint('yellow', `↳ denied${event.reason ? `: ${printable(event.reason)}` : ''}`);
    return `${this.#paint('dim', event.preliminary ? '…' : '↳')} ${this.#json(event.output)}`;
  }

  #json(value: unknown): string {
    const text = printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
    const width = Math.max(20, this.#out.columns - 24);
    return this.#paint('dim', text.length > width ? `${text.slice(0, width)}…` : text);
  }

  #end(event: EventOf<'run-end'>): void {
    for (const part of this.#openParts.values()) {
      this.#flushPart(part);
      this.#closeLine();
    }
    this.#openParts.clear();
    this.#closeLine();
    if (event.outcome === 'error') {
      const code = event.error.code === undefined ? '' : this.#paint('dim', ` (${printable(event.error.code)})`);
      this.note(`${this.#paint('red', `✗ ${printable(event.error.message, '\n')}`)}${code}`);
    } else if (event.outcome === 'aborted') this.note(this.#paint('yellow', '  stopped'));
    const tokens = formatTokens(event.usage);
    if (tokens !== '') this.note(this.#paint('dim', `  ${tokens}`));
  }

  /** Shows a temporary status line, which the next output replaces. */
  #status(text: string): void {
    if (!this.#out.isTerminal || this.#isLineOpen) return;
    this.#clearStatus();
    this.#writeNow(this.#paint('dim', `  ${printable(text)}`));
    this.#hasStatus = true;
  }

  #clearStatus(): void {
    if (!this.#hasStatus) return;
    this.#hasStatus = false;
    this.#writeNow('\r\u001b[2K');
  }

  #closeLine(): void {
    if (!this.#isLineOpen) return;
    this.#isLineOpen = false;
    this.#write('\n');
  }

  #write(text: string): void {
    this.#clearStatus();
    this.#writeNow(text);
  }

  /** Ignores backpressure, since a terminal is fast enough. After the reader has left, the next write throws. */
  #writeNow(text: string): void {
    Promise.resolve(this.#out.write(text)).catch(() => undefined);
  }
}

const noticeStyles: { [level in EventOf<'notice'>['level']]: Style } = { info: 'dim', warning: 'yellow', error: 'red' };

function formatTokens(usage: readonly Usage[] = []): string {
  const sum = (key: 'inputTokens' | 'outputTokens'): number =>
    usage.reduce((total, entry) => total + (entry[key] ?? 0), 0);
  const [input, output] = [sum('inputTokens'), sum('outputTokens')];
  return input + output === 0 ? '' : `${input} tokens in, ${output} out`;
}

import type { AgentEvent, EventOf, Usage } from '@intertie/core';
import type { Paint, Style } from '../paint.ts';
import { printable } from '../printable.ts';
import type { Sink } from '../tool-io.ts';

const agentStyles: readonly Style[] = ['cyan', 'magenta', 'green', 'blue', 'yellow'];

/** Words that are being said. They wait while another part has the cursor. */
type Speech = { opening: string; style: Style | undefined; text: string; isOver: boolean };

export interface ChatViewOptions {
  out: Sink;
  paint: Paint;
  /** Whether reasoning is shown as it is said, or folded into a line. */
  showReasoning: boolean;
}

/** A run on a terminal, which has one cursor: who speaks first is heard first, and notes come between the lines. */
export class ChatView {
  showReasoning: boolean;
  /** What was folded last, for those who want to read it. */
  lastReasoning = '';
  #out: Sink;
  #paint: Paint;
  #agents = new Map<string, { name: string; style: Style }>();
  #styles = new Map<string, Style>();
  #speeches = new Map<string, Speech>();
  #thoughts = new Map<string, string>();
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
        for (const [id, { name }] of Object.entries(event.content.agents ?? {})) this.#meet(id, name);
        return;
      case 'agent-start':
        return this.#meet(event.agentId, event.name);
      case 'text-start':
        return this.#begin(event.id, event, event.internal ? 'dim' : undefined);
      case 'reasoning-start':
        if (this.showReasoning) return this.#begin(event.id, event, 'dim');
        this.#thoughts.set(event.id, '');
        return this.#status('thinking…');
      case 'text-delta':
        return this.#say(event.id, event.delta);
      case 'reasoning-delta':
        if (!this.#thoughts.has(event.id)) return this.#say(event.id, event.delta);
        this.#thoughts.set(event.id, this.#thoughts.get(event.id) + event.delta);
        return;
      case 'text-end':
        return this.#finish(event.id);
      case 'reasoning-end':
        return this.#thoughts.has(event.id) ? this.#fold(event.id) : this.#finish(event.id);
      case 'tool-input-start':
        return this.#status(`${event.toolName}…`);
      case 'tool-call':
        return this.note(
          `${this.#label(event)}⚙ ${this.#paint('bold', clean(event.toolName))} ${this.#json(event.input)}`,
        );
      case 'tool-result':
        return this.note(`  ${this.#result(event)}`);
      case 'source':
        return this.note(
          this.#paint(
            'dim',
            `  ▸ ${clean(event.title ?? event.filename ?? event.url ?? '')} ${clean(event.url ?? '')}`.trimEnd(),
          ),
        );
      case 'file':
        return this.note(this.#paint('dim', `  ▤ ${clean(event.filename ?? event.mimeType ?? 'a file')}`));
      case 'notice':
        return this.note(this.#paint(noticeStyles[event.level], `  ${clean(event.message)}`));
      case 'run-end':
        return this.#end(event);
      default:
        // Steps, state and data are the front end's business; a chat in a terminal has no place for them.
        return;
    }
  }

  /** A line of its own, behind what is being said. */
  note(text: string): void {
    if (this.#speeches.size > 0) {
      this.#notes += 1;
      this.#speeches.set(`note ${this.#notes}`, { opening: `${text}\n`, style: undefined, text: '', isOver: true });
      return;
    }
    this.#closeLine();
    this.#write(`${text}\n`);
  }

  #meet(id: string, name: string): void {
    if (!this.#styles.has(name)) this.#styles.set(name, agentStyles[this.#styles.size % agentStyles.length]!);
    this.#agents.set(id, { name: clean(name), style: this.#styles.get(name)! });
  }

  #label({ agentId, to }: { agentId?: string; to?: string[] }): string {
    const agent = agentId === undefined ? undefined : this.#agents.get(agentId);
    if (!agent) return '';
    const receivers = to && to.length > 0 ? this.#paint('dim', ` → ${clean(to.join(', '))}`) : '';
    return `${this.#paint(agent.style, agent.name)}${receivers} `;
  }

  #begin(id: string, event: EventOf<'text-start' | 'reasoning-start'>, style: Style | undefined): void {
    const speech = { opening: this.#label(event), style, text: '', isOver: false };
    this.#speeches.set(id, speech);
    if (this.#speeches.size === 1) this.#speak(speech);
  }

  #say(id: string, delta: string): void {
    const speech = this.#speeches.get(id);
    if (!speech) return;
    speech.text += delta;
    if (this.#speeches.keys().next().value === id) this.#speak(speech);
  }

  #finish(id: string): void {
    const finished = this.#speeches.get(id);
    if (!finished) return;
    finished.isOver = true;
    for (const [first, speech] of this.#speeches) {
      this.#speak(speech);
      if (!speech.isOver) return;
      this.#speeches.delete(first);
      this.#closeLine();
    }
  }

  #speak(speech: Speech): void {
    const text = clean(speech.text, '\n\t');
    const isNote = speech.opening.endsWith('\n');
    if (text === '' && !isNote) return;
    speech.text = '';
    if (speech.opening !== '' && !this.#isLineOpen) this.#write(speech.opening);
    speech.opening = '';
    if (isNote) return;
    this.#write(speech.style ? this.#paint(speech.style, text) : text);
    this.#isLineOpen = !text.endsWith('\n');
  }

  #fold(id: string): void {
    const thought = this.#thoughts.get(id) ?? '';
    this.#thoughts.delete(id);
    const words = thought.split(/\s+/).filter(Boolean).length;
    if (words === 0) return this.#clearStatus();
    this.lastReasoning = thought;
    this.note(this.#paint('dim', `  (thought: ${words} ${words === 1 ? 'word' : 'words'}; /reasoning shows it)`));
  }

  #result(event: EventOf<'tool-result'>): string {
    if (event.status === 'error') return this.#paint('red', `↳ ${clean(event.error.message)}`);
    if (event.status === 'denied')
      return this.#paint('yellow', `↳ denied${event.reason ? `: ${clean(event.reason)}` : ''}`);
    return `${this.#paint('dim', event.preliminary ? '…' : '↳')} ${this.#json(event.output)}`;
  }

  #json(value: unknown): string {
    const text = clean(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
    const width = Math.max(20, this.#out.columns - 24);
    return this.#paint('dim', text.length > width ? `${text.slice(0, width)}…` : text);
  }

  #end(event: EventOf<'run-end'>): void {
    for (const speech of this.#speeches.values()) {
      this.#speak(speech);
      this.#closeLine();
    }
    this.#speeches.clear();
    this.#closeLine();
    if (event.outcome === 'error') {
      const code = event.error.code === undefined ? '' : this.#paint('dim', ` (${clean(event.error.code)})`);
      this.note(`${this.#paint('red', `✗ ${clean(event.error.message, '\n')}`)}${code}`);
    } else if (event.outcome === 'aborted') this.note(this.#paint('yellow', '  stopped'));
    const tokens = tokensOf(event.usage);
    if (tokens !== '') this.note(this.#paint('dim', `  ${tokens}`));
  }

  /** What is going on while nothing is said; the next word takes its place. */
  #status(text: string): void {
    if (!this.#out.isTerminal || this.#isLineOpen) return;
    this.#clearStatus();
    this.#put(this.#paint('dim', `  ${clean(text)}`));
    this.#hasStatus = true;
  }

  #clearStatus(): void {
    if (!this.#hasStatus) return;
    this.#hasStatus = false;
    this.#put('\r\u001b[2K');
  }

  #closeLine(): void {
    if (!this.#isLineOpen) return;
    this.#isLineOpen = false;
    this.#write('\n');
  }

  #write(text: string): void {
    this.#clearStatus();
    this.#put(text);
  }

  /** A person reads as fast as an agent speaks. Whoever has left is noticed at the next word, which then fails at once. */
  #put(text: string): void {
    Promise.resolve(this.#out.write(text)).catch(() => undefined);
  }
}

const noticeStyles: { [level in EventOf<'notice'>['level']]: Style } = { info: 'dim', warning: 'yellow', error: 'red' };

function clean(text: string, allowed = ''): string {
  return printable(text, allowed);
}

function tokensOf(usage: readonly Usage[] = []): string {
  const sum = (key: 'inputTokens' | 'outputTokens'): number => usage.reduce((total, one) => total + (one[key] ?? 0), 0);
  const [input, output] = [sum('inputTokens'), sum('outputTokens')];
  return input + output === 0 ? '' : `${input} tokens in, ${output} out`;
}

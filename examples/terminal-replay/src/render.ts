import type { AgentEvent, Codec, Emit, EventOf, Outcome } from '@intertie/core';
import type { Waiting } from '@intertie/core/store';
import type { Paint, Style } from './paint.ts';

export type RenderOptions = { width: number; paint: Paint };

const gutter = 14;
const indent = ' '.repeat(gutter);
const agentStyles: readonly Style[] = ['cyan', 'magenta', 'yellow', 'green', 'blue'];

const waits: { [type in Waiting['type']]: string } = { tool: 'a result', question: 'an answer', message: 'a message' };

/** An open text part: its text is buffered while another part has the cursor. */
type OpenPart = { label: string; dim: boolean; buffered: string; ended: boolean };

/** Codec from canonical events to terminal output. */
export function render(options: RenderOptions): Codec<AgentEvent, string> {
  return new TerminalView(options);
}

class TerminalView implements Codec<AgentEvent, string> {
  #width: number;
  #paint: Paint;
  #labels = new Map<string, string>();
  #styles = new Map<string, Style>();
  /** Open parts in the order of their start; the first one has the cursor. */
  #openParts = new Map<string, OpenPart>();
  #column = 0;

  constructor({ width, paint }: RenderOptions) {
    this.#width = width;
    this.#paint = paint;
  }

  feed(event: AgentEvent, emit: Emit<string>): void {
    switch (event.type) {
      case 'run-start': {
        const title = event.resumes ? `${event.runId}, which continues ${event.resumes}` : event.runId;
        return emit(this.#paint('dim', `\n  ── ${title} `.padEnd(this.#width, '─')) + '\n');
      }
      case 'message-snapshot':
        for (const [agentId, { name }] of Object.entries(event.content.agents ?? {})) this.#addAgent(agentId, name);
        return;
      case 'agent-start':
        return this.#addAgent(event.agentId, event.name);
      case 'text-start':
        return this.#begin(event, event.internal ? `→ ${event.to?.join(', ') ?? 'all'}: ` : '', emit);
      case 'reasoning-start':
        return this.#begin(event, '(reasoning) ', emit);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#append(event.id, event.delta, emit);
      case 'text-end':
      case 'reasoning-end':
        return this.#finish(event.id, emit);
      case 'tool-call': {
        const call = `${this.#paint('bold', event.toolName)} ${this.#json(event.input)}`;
        return emit(`\n  ${this.#label(event.agentId)}${call}\n`);
      }
      case 'tool-result':
        return this.#note(this.#result(event), emit);
      case 'question':
        return this.#note(`${this.#paint('yellow', '?')} ${event.message ?? event.reason ?? 'Continue?'}`, emit);
      case 'answer': {
        const verdict = event.approved === false ? this.#paint('red', '✗ no') : this.#paint('green', '✓ yes');
        return this.#note(verdict + this.#paint('dim', event.by ? `, by ${event.by}` : ''), emit);
      }
      case 'notice':
        return this.#note(this.#paint(event.level === 'error' ? 'red' : 'dim', event.message), emit);
      case 'run-end':
        emit('\n');
        return this.#note(this.#outcome(event) + this.#tokens(event), emit);
      default:
        // Steps, sources, data and other events are stored in the message and not printed.
        return;
    }
  }

  end(): void {
    // Every run has already printed its outcome.
  }

  #addAgent(agentId: string, name: string): void {
    if (!this.#styles.has(name)) this.#styles.set(name, agentStyles[this.#styles.size % agentStyles.length]!);
    this.#labels.set(agentId, this.#paint(this.#styles.get(name)!, name.slice(0, gutter - 1).padEnd(gutter)));
  }

  #label(agentId: string | undefined): string {
    return this.#labels.get(agentId ?? '') ?? this.#paint('bold', 'assistant'.padEnd(gutter));
  }

  #begin(event: EventOf<'text-start' | 'reasoning-start'>, opening: string, emit: Emit<string>): void {
    const part = { label: this.#label(event.agentId), dim: opening !== '', buffered: opening, ended: false };
    this.#openParts.set(event.id, part);
    if (this.#openParts.size === 1) this.#takeCursor(part, emit);
  }

  #append(id: string, delta: string, emit: Emit<string>): void {
    const part = this.#openParts.get(id);
    if (!part) return;
    part.buffered += delta;
    if (this.#hasCursor(id)) this.#print(part, emit);
  }

  /** A terminal has one cursor: the next buffered part is printed when this one ends. */
  #finish(id: string, emit: Emit<string>): void {
    const finished = this.#openParts.get(id);
    if (finished) finished.ended = true;
    if (!this.#hasCursor(id)) return;
    for (const [first, part] of this.#openParts) {
      if (first !== id) this.#takeCursor(part, emit);
      if (!part.ended) return;
      this.#openParts.delete(first);
      emit('\n');
    }
  }

  #hasCursor(id: string): boolean {
    return this.#openParts.keys().next().value === id;
  }

  #takeCursor(part: OpenPart, emit: Emit<string>): void {
    emit(`\n  ${part.label}`);
    this.#column = gutter + 2;
    this.#print(part, emit);
  }

  /** Prints word by word, with a line break before a word that does not fit. */
  #print(part: OpenPart, emit: Emit<string>): void {
    for (const word of part.buffered.match(/\n+|[^\S\n]+|\S+/g) ?? []) {
      const breaks = word.startsWith('\n') || this.#column + word.length > this.#width;
      if (breaks) {
        emit(`${word.startsWith('\n') ? word : '\n'}  ${indent}`);
        this.#column = gutter + 2;
      }
      if (breaks && word.trim() === '') continue;
      emit(part.dim && word.trim() !== '' ? this.#paint('dim', word) : word);
      this.#column += word.length;
    }
    part.buffered = '';
  }

  #note(text: string, emit: Emit<string>): void {
    emit(`  ${indent}${text}\n`);
  }

  #result(event: EventOf<'tool-result'>): string {
    if (event.status === 'ok') return `${this.#paint('green', '✓')} ${this.#json(event.output)}`;
    const why = event.status === 'error' ? event.error.message : `denied${event.reason ? `: ${event.reason}` : ''}`;
    return `${this.#paint('red', '✗')} ${why}`;
  }

  #outcome(event: Outcome): string {
    switch (event.outcome) {
      case 'complete':
        return this.#paint('green', '● complete');
      case 'paused':
        return this.#paint(
          'yellow',
          `‖ paused, waits for ${event.waitingFor.map(({ type }) => waits[type]).join(' and ')}`,
        );
      case 'aborted':
        return this.#paint('yellow', '■ stopped');
      case 'error':
        return this.#paint('red', `✗ ${event.error.message}`);
    }
  }

  #tokens({ usage = [] }: EventOf<'run-end'>): string {
    const total = usage.reduce((sum, { totalTokens = 0 }) => sum + totalTokens, 0);
    return total === 0 ? '' : this.#paint('dim', ` · ${total} tokens`);
  }

  #json(value: unknown): string {
    const text = JSON.stringify(value);
    const room = Math.max(this.#width - gutter - 24, 20);
    return this.#paint('dim', text.length > room ? `${text.slice(0, room - 1)}…` : text);
  }
}

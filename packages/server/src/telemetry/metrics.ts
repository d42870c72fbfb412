import type { RunObserver, RunResult } from '@intertie/agent';

type Labels = { readonly [name: string]: string };

/** Value that is read when the metrics are rendered; one per set of labels. */
export type Gauge = { help: string; value: number | ReadonlyArray<{ labels: Labels; value: number }> };

const results: readonly RunResult[] = ['complete', 'paused', 'aborted', 'error', 'lost', 'fenced'];
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Measurements of one server, rendered in the text format of Prometheus. Every label has a bounded number of values: routes
 * are patterns, and agents that are not configured here (of runs taken over from another process) are `other`.
 */
export class Metrics {
  /** Feeds the measurements of the run host. */
  readonly observer: RunObserver;
  #startedAt = Date.now();
  #requests = new Histogram('request_seconds', 'Time until a response began.', [0.005, 0.02, 0.1, 0.5, 2, 10]);
  #runs = new Counter('runs_total', 'Runs that ended, by agent and outcome.');
  #takeovers = new Counter('takeovers_total', 'Runs that this process took over from another one.');
  #handOvers = new Counter('hand_overs_total', 'Runs that this process handed over to another one at shutdown.');
  #refused = new Counter('runs_refused_total', 'New runs that were refused because the process was overloaded.');
  #firstEvents = new Histogram(
    'first_event_seconds',
    'Time from the start of a run to the first event of its source.',
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  );
  #flushes = new Histogram(
    'flush_seconds',
    'Time to append events to the run log.',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  );
  #flushFailures = new Counter('flush_failures_total', 'Appends to the run log that failed. Each is tried again.');
  #lags = new Histogram(
    'reader_lag_seconds',
    'Time from when events were available in this process until a reader took them.',
    [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 5, 30],
  );

  constructor(agents: Iterable<string> = []) {
    const known = new Set(agents);
    const named = (agent: string): string => (known.has(agent) ? agent : 'other');
    // Series that exist from the start: Prometheus does not see the increase from "absent" to 1.
    for (const agent of known) {
      for (const outcome of results) this.#runs.add({ agent, outcome }, 0);
      this.#takeovers.add({ agent }, 0);
      this.#handOvers.add({ agent }, 0);
      this.#refused.add({ agent }, 0);
    }
    this.#flushFailures.add({}, 0);
    this.observer = {
      firstEvent: ({ agent, ms }) => this.#firstEvents.observe({ agent: named(agent) }, ms / 1000),
      runEnded: ({ agent, result }) => this.#runs.add({ agent: named(agent), outcome: result }),
      takenOver: ({ agent }) => this.#takeovers.add({ agent: named(agent) }),
      handedOver: ({ agent }) => this.#handOvers.add({ agent: named(agent) }),
      refused: ({ agent }) => this.#refused.add({ agent: named(agent) }),
      flushed: ({ ms, failed }) => (failed ? this.#flushFailures.add({}) : this.#flushes.observe({}, ms / 1000)),
      delivered: ({ lagMs }) => this.#lags.observe({}, lagMs / 1000),
    };
  }

  observe(request: { method: string; route: string; status: number; seconds: number }): void {
    const { route, status, seconds } = request;
    const method = methods.has(request.method) ? request.method : 'other';
    this.#requests.observe({ method, route, status: String(status) }, seconds);
  }

  render(gauges: { readonly [name: string]: Gauge }): string {
    const metrics = [
      this.#requests,
      this.#runs,
      this.#firstEvents,
      this.#takeovers,
      this.#handOvers,
      this.#refused,
      this.#flushes,
      this.#flushFailures,
      this.#lags,
    ];
    const uptime: Gauge = {
      help: 'Seconds since the server was created.',
      value: (Date.now() - this.#startedAt) / 1000,
    };
    const current = Object.entries({ ...gauges, uptime_seconds: uptime }).map(renderGauge);
    return `${[...metrics.map((metric) => metric.render()), ...current].flat().join('\n')}\n`;
  }
}

class Counter {
  #name: string;
  #help: string;
  #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: Labels, by = 1): void {
    const key = toKey(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  render(): string[] {
    const lines = [...this.#values].map(([key, value]) => toLine(this.#name, key, value));
    return [...toHead(this.#name, this.#help, 'counter'), ...lines];
  }
}

type Series = { sum: number; counts: number[] };

class Histogram {
  #name: string;
  #help: string;
  #bounds: readonly number[];
  #series = new Map<string, Series>();

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  observe(labels: Labels, value: number): void {
    const key = toKey(labels);
    let series = this.#series.get(key);
    // One count for each bound, and one for values above all of them.
    if (!series) this.#series.set(key, (series = { sum: 0, counts: [...this.#bounds, Infinity].map(() => 0) }));
    const index = this.#bounds.findIndex((bound) => value <= bound);
    series.counts[index === -1 ? this.#bounds.length : index]! += 1;
    series.sum += value;
  }

  render(): string[] {
    const lines = toHead(this.#name, this.#help, 'histogram');
    for (const [key, { sum, counts }] of this.#series) {
      const prefix = key === '' ? '' : `${key},`;
      let total = 0;
      for (const [index, count] of counts.entries()) {
        total += count;
        lines.push(toLine(`${this.#name}_bucket`, `${prefix}le="${this.#bounds[index] ?? '+Inf'}"`, total));
      }
      lines.push(toLine(`${this.#name}_sum`, key, sum), toLine(`${this.#name}_count`, key, total));
    }
    return lines;
  }
}

function renderGauge([name, { help, value }]: [string, Gauge]): string[] {
  const values = typeof value === 'number' ? [{ labels: {}, value }] : value;
  return [...toHead(name, help, 'gauge'), ...values.map((each) => toLine(name, toKey(each.labels), each.value))];
}

function toHead(name: string, help: string, type: 'counter' | 'gauge' | 'histogram'): string[] {
  return [`# HELP intertie_${name} ${help}`, `# TYPE intertie_${name} ${type}`];
}

function toLine(name: string, key: string, value: number): string {
  return `intertie_${name}${key === '' ? '' : `{${key}}`} ${value}`;
}

function toKey(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

const bucketBounds = [0.005, 0.02, 0.1, 0.5, 2, 10];

type Series = { count: number; seconds: number; buckets: number[] };

/** What `/metrics` tells, in the text format that Prometheus and its kin read. */
export class Metrics {
  #startedAt = Date.now();
  #requests = new Map<string, Series>();

  observe({
    method,
    route,
    status,
    seconds,
  }: {
    method: string;
    route: string;
    status: number;
    seconds: number;
  }): void {
    const key = `method="${method}",route="${escapeLabel(route)}",status="${status}"`;
    let series = this.#requests.get(key);
    if (!series) this.#requests.set(key, (series = { count: 0, seconds: 0, buckets: bucketBounds.map(() => 0) }));
    series.count += 1;
    series.seconds += seconds;
    for (const [index, bound] of bucketBounds.entries()) if (seconds <= bound) series.buckets[index]! += 1;
  }

  render(gauges: { readonly [name: string]: { help: string; value: number } }): string {
    const lines = [
      '# HELP intertie_request_seconds How long it took until an answer began.',
      '# TYPE intertie_request_seconds histogram',
    ];
    for (const [key, { count, seconds, buckets }] of this.#requests) {
      for (const [index, bound] of bucketBounds.entries()) {
        lines.push(`intertie_request_seconds_bucket{${key},le="${bound}"} ${buckets[index]}`);
      }
      lines.push(`intertie_request_seconds_bucket{${key},le="+Inf"} ${count}`);
      lines.push(`intertie_request_seconds_sum{${key}} ${seconds}`, `intertie_request_seconds_count{${key}} ${count}`);
    }
    const uptime = { help: 'Seconds since the server was made.', value: (Date.now() - this.#startedAt) / 1000 };
    for (const [name, { help, value }] of Object.entries({ ...gauges, uptime_seconds: uptime })) {
      lines.push(`# HELP intertie_${name} ${help}`, `# TYPE intertie_${name} gauge`, `intertie_${name} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}

function escapeLabel(text: string): string {
  return text.replace(/["\\\n]/g, '_');
}

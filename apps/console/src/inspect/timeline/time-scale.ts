/** Computes at most `most` round ticks for a time axis, after 0. */
export function computeTicks(duration: number, most = 6): number[] {
  if (!(duration > 0)) return [0];
  const rough = duration / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough)!;
  return Array.from({ length: Math.floor(duration / step + 1e-9) + 1 }, (_, index) => index * step);
}

/** Formats a duration in milliseconds with about three digits. */
export function formatDuration(ms: number): string {
  if (ms < 1) return ms === 0 ? '0' : '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${formatNumber(ms / 1000, 2)} s`;
  if (ms < 60_000) return `${formatNumber(ms / 1000, 1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const formatNumber = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/** Labels of the states of messages and tool calls that do not explain themselves. */
const labels: { readonly [status: string]: string } = {
  streaming: 'live',
  paused: 'waiting for you',
  aborted: 'stopped',
  'partial-call': 'writing input',
  call: 'running',
  result: 'done',
  error: 'failed',
};

export function getStatusLabel(status: string): string {
  return labels[status] ?? status;
}

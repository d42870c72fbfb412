/** Issue of a schema library, with the fields that all of them have. */
type Issue = { message: string; path?: unknown };

/** Formats an error for users. Runtimes pass on schema issues as JSON text. */
export function formatErrorText(text: string): string {
  const issues = parseIssues(text);
  if (issues === undefined) return text;
  const lines = issues.map(({ message, path }) => {
    const place = Array.isArray(path) ? path.join('.') : '';
    return place === '' ? message : `${place}: ${message}`;
  });
  return `invalid input (${lines.join('; ')})`;
}

function parseIssues(text: string): Issue[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const list: unknown = Array.isArray(value) ? value : (value as { issues?: unknown } | null)?.issues;
  return Array.isArray(list) && list.length > 0 && list.every(isIssue) ? list : undefined;
}

function isIssue(value: unknown): value is Issue {
  return typeof value === 'object' && value !== null && typeof (value as Issue).message === 'string';
}

import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString } from 'mdast-util-to-string';

/** Removes Markdown syntax from a one-line preview, which may be cut in the middle of an element. */
export function toPlainText(markdown: string): string {
  // A cut element remains as text; its markers at the end are removed.
  return toString(fromMarkdown(markdown)).replace(/[*_`~#]+$/, '');
}

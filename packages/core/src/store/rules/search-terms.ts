import type { MessageContent } from '../../event/message.ts';

/** Characters of a message's text that are searched. */
const searchedLength = 100_000;

const maxTerms = 20;
const separator = /[^\p{L}\p{N}\p{M}]+/u;

/** Splits a search into lower-case terms of letters and digits. */
export function toSearchTerms(search: string): string[] {
  return [...new Set(toWords(search))].slice(0, maxTerms);
}

/** Splits a text into its lower-case words. */
export function toWords(text: string): string[] {
  return text.toLowerCase().split(separator).filter(Boolean);
}

/** Returns the searched text of a message: the beginning of its text parts. */
export function getSearchText({ parts }: MessageContent): string {
  return parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .slice(0, searchedLength);
}

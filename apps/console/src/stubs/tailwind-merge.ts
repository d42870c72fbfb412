/** Replaces `tailwind-merge`: the console does not use Tailwind, so there are no classes to merge. */
export function twMerge(...names: Array<string | false | null | undefined>): string {
  return names.filter(Boolean).join(' ');
}

/** Stands in for `tailwind-merge`: there is no Tailwind here, so there is nothing to be merged. */
export function twMerge(...names: Array<string | false | null | undefined>): string {
  return names.filter(Boolean).join(' ');
}

/** Masks the password of a database URL. */
export function hidePassword(target: string): string {
  if (!URL.canParse(target)) return target;
  const url = new URL(target);
  if (url.password !== '') url.password = '***';
  return url.href;
}

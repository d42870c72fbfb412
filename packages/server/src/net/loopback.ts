/** Whether a name or an address means this machine and no other. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name)
  );
}

/** `name:port` without the port. */
export function hostName(host: string): string {
  return host.replace(/:\d+$/, '');
}

/** Whether a host name or an address is a loopback address of this machine. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name)
  );
}

/** Removes the port from `name:port`. */
export function hostName(host: string): string {
  return host.replace(/:\d+$/, '');
}

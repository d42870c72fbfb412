/** Returns a proxy with some members replaced. Other methods are called on the original object, which may be of any class. */
export function override<Base extends object>(base: Base, changed: Partial<Base>): Base {
  return new Proxy(base, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return Reflect.get(changed, name) as unknown;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** The same object but for what is given: whatever else is called, is called on the original, which may be of any class. */
export function override<Base extends object>(base: Base, changed: Partial<Base>): Base {
  return new Proxy(base, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return Reflect.get(changed, name) as unknown;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

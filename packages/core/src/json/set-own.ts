/** Sets an own property. `object['__proto__'] = value` would set the prototype instead, and keys come from untrusted input. */
export function setOwn<Value>(object: { [key: string]: Value }, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

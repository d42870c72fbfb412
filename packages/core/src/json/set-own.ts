/**
 * Sets a property that is surely the object's own. `object['__proto__'] = value` would set the prototype instead, and
 * keys come from the wire.
 */
export function setOwn<Value>(object: { [key: string]: Value }, key: string, value: Value): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

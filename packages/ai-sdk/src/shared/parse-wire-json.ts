/**
 * Parses JSON from a wire, and refuses what would change the prototype of whoever copies it: a key `__proto__`, or a
 * `constructor` with a `prototype`. `ai` refuses the same.
 */
export function parseWireJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Only a text that can hold such a key is looked through; escapes may hide one.
  if (text.includes('__proto__') || text.includes('constructor') || text.includes('\\u00'))
    assertNoPrototypeKeys(value);
  return value;
}

/** Throws where a value has such a key. */
export function assertNoPrototypeKeys(root: unknown): void {
  const nodes = isObject(root) ? [root] : [];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (Object.hasOwn(node, '__proto__') || hasConstructorPrototype(node)) {
      throw new SyntaxError('An object has a key that would change its prototype.');
    }
    for (const value of Object.values(node) as unknown[]) if (isObject(value)) nodes.push(value);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function hasConstructorPrototype(node: object): boolean {
  if (!Object.hasOwn(node, 'constructor')) return false;
  const { constructor } = node as { constructor: unknown };
  return isObject(constructor) && Object.hasOwn(constructor, 'prototype');
}

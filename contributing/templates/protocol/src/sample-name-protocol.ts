import type { Protocol } from '@intertie/core';
import { createDecodingChecker, decodingRules, getItemType } from '@intertie/core/internal';
import { createSampleNameDecoder } from './decode-sample-name.ts';
import { createSampleNameEncoder } from './encode-sample-name.ts';

const name = 'sample-name';
const isItem = (item: unknown): boolean => ['begin', 'text', 'end'].includes(getItemType(item));

/** Sample Name: how it is detected, checked, decoded and encoded. */
export const sampleNameProtocol: Protocol = {
  name,
  label: 'Sample Name',
  title: 'a Sample Name stream',
  framing: { mediaTypes: ['application/x-ndjson'] },
  rules: decodingRules,
  looksLike: isItem,
  getKind: (item) => getItemType(item) || 'no type',
  startsRun: (item) => getItemType(item) === 'begin',
  endsRun: (item) => getItemType(item) === 'end',
  checker: () => createDecodingChecker(name, isItem, createSampleNameDecoder),
  decoder: createSampleNameDecoder,
  encoder: (_run, onLoss) => createSampleNameEncoder(onLoss),
  items: { families: { run: ['begin', 'end'], text: ['text'] }, deltas: ['text'] },
};

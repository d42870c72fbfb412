import type { Dialect } from '@intertie/core';
import { createAGUIChecker } from './ag-ui-checker.ts';
import type { AGUIEvent } from '../shared/ag-ui-event.ts';
import { aguiRules } from './ag-ui-rules.ts';
import { createAGUIDecoder } from '../decode/decode-ag-ui.ts';
import { createAGUIEncoder } from '../encode/encode-ag-ui.ts';
import { asFields, asText } from '../shared/read-fields.ts';

/** The AG-UI dialect: its rules, and how it is detected, checked, decoded and encoded. */
export const agUi: Dialect<AGUIEvent> = {
  name: 'ag-ui',
  rules: aguiRules,
  detect: (item) => /^RUN_(?:STARTED|ERROR)$/.test(asText(asFields(item).type) ?? ''),
  getKind: (item) => asText(asFields(item).type) ?? 'unknown',
  checker: createAGUIChecker,
  decoder: (run, onLoss) => createAGUIDecoder(run, { onLoss }),
  encoder: (_run, onLoss) => createAGUIEncoder({ protocolVersion: '1.0', onLoss }),
};

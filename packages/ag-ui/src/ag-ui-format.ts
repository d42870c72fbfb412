import type { Protocol } from '@intertie/core';
import { getItemType, readItemTime, toRunIds } from '@intertie/core/internal';
import { createAGUIChecker } from './check/ag-ui-checker.ts';
import { aguiRules } from './check/ag-ui-rules.ts';
import { createAGUIEncoder } from './encode/encode-ag-ui.ts';
import type { AGUIEvent } from './shared/ag-ui-event.ts';
import { asFields } from './shared/read-fields.ts';

/** AG-UI as a format: its rules, and how it is detected, checked and encoded. Small enough for a page. */
export const agUiFormat: Protocol<AGUIEvent> = {
  name: 'ag-ui',
  aliases: ['agui', 'copilotkit'],
  label: 'AG-UI 1.0',
  title: 'AG-UI events, as CopilotKit and HttpAgent read them',
  framing: { mediaTypes: ['text/event-stream', 'application/vnd.ag-ui.event+proto'] },
  rules: aguiRules,
  looksLike: (item) => /^[A-Z]+(?:_[A-Z]+)*$/.test(getItemType(item)),
  getKind: (item) => getItemType(item) || 'unknown',
  startsRun: (item) => getItemType(item) === 'RUN_STARTED',
  readRunIds: (item) => {
    const { type, runId, threadId, timestamp } = asFields(item);
    return type === 'RUN_STARTED' ? toRunIds({ runId, threadId, at: timestamp }) : {};
  },
  readTime: (item) => readItemTime(asFields(item).timestamp),
  checker: createAGUIChecker,
  encoder: (_run, onLoss, { includeInternal: sendInternal = false } = {}) =>
    createAGUIEncoder({ protocolVersion: '1.0', sendInternal, onLoss }),
  items: {
    families: {
      run: ['RUN_*', 'MESSAGES_SNAPSHOT'],
      agent: ['STEP_*', 'SUBAGENT_*'],
      text: ['TEXT_MESSAGE_*'],
      reasoning: ['REASONING_*', 'THINKING_*'],
      tool: ['TOOL_CALL_*'],
      data: ['STATE_*', 'ACTIVITY_*', 'RAW', 'CUSTOM'],
      notice: ['RUN_ERROR', 'SUBAGENT_ERROR'],
    },
    deltas: ['*_CONTENT', '*_ARGS', '*_CHUNK'],
  },
};

export type { AGUIEvent, AGUIEventOf, AGUIEventType } from './ag-ui-event.ts';
export { createAGUIEncoder } from './encode-ag-ui.ts';
export type { AGUIEncoderOptions, AGUIOpenState } from './encode-ag-ui.ts';
export type { StepNames } from './encode-agents.ts';
export { toAGUIMessages } from './to-ag-ui-messages.ts';
export type { ToAGUIMessagesOptions } from './to-ag-ui-messages.ts';

import type { MAILModelSettings, MAILResumeFrom } from '../shared/mail-settings.ts';

/** Result of a breakpoint tool. The server requires text and appends it to the agent's history unchanged. */
export type MAILToolResult = { call_id: string; content: string };

/** Message to a swarm: starts the task `taskId`, or continues it. */
export type MAILRequest = {
  taskId: string;
  /** Not set for a new task. */
  resumeFrom?: MAILResumeFrom;
  body: string;
  toolResults?: MAILToolResult[];
};

/** The server's own default. */
const defaultSubject = 'New Message';

/** Builds the HTTP body of a request. Only `/message`, which requires a token, reads `kwargs`. */
export function toRequestBody(request: MAILRequest, settings: MAILModelSettings, hasToken: boolean): object {
  const { taskId, resumeFrom, body, toolResults } = request;
  const { entrypoint, subject = defaultSubject, maxSteps } = settings;
  const kwargs = {
    ...(resumeFrom === 'breakpoint_tool_call' && { breakpoint_tool_call_result: toolResults ?? [] }),
    ...(maxSteps !== undefined && { max_steps: maxSteps }),
  };
  return {
    body,
    task_id: taskId,
    stream: true,
    msg_type: 'request',
    subject,
    ...(entrypoint !== undefined && { entrypoint }),
    ...(resumeFrom !== undefined && { resume_from: resumeFrom }),
    ...(hasToken && Object.keys(kwargs).length > 0 && { kwargs }),
  };
}

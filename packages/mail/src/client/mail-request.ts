import type { MAILModelSettings, MAILResumeFrom } from '../shared/mail-settings.ts';

/** The answer to a breakpoint tool. The server wants text, and puts it into the agent's history as it is. */
export type MAILToolResult = { call_id: string; content: string };

/** What is sent to a swarm, and into which task. */
export type MAILRequest = {
  taskId: string;
  /** Absent: the task is new. */
  resumeFrom?: MAILResumeFrom;
  body: string;
  toolResults?: MAILToolResult[];
};

/** The subject that the server itself gives to a message without one. */
const defaultSubject = 'New Message';

/** The body of the request. `kwargs` is read by `/message` alone. */
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

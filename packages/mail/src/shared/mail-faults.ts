import type { Fault } from '@intertie/core';

/** Code of a fault: the server does not have the task. It was restarted, or the task belongs to another user. */
export const taskNotFound = 'mail-task-not-found';

/** Converts the response of a failed task to a fault. */
export function toTaskFault(response: string): Fault {
  if (/^task '.*' not found$/s.test(response)) {
    return { message: `The MAIL server no longer has the task: ${response}.`, code: taskNotFound };
  }
  if (response.includes("'breakpoint_tool_call_result' not provided")) {
    const message =
      'The result of a breakpoint tool did not reach the swarm, because /ui/message does not read it. Set authToken to ' +
      'use POST /message.';
    return { message, code: 'mail-no-result' };
  }
  return {
    message: response === '' ? 'The MAIL task failed, and the server gave no reason.' : response,
    code: 'mail-task',
  };
}

export function toAgentFault(description: string): Fault {
  return { message: description, code: 'mail-agent' };
}

/** Ends a run whose message was sent to a completed task. The server drops the message and would ping forever. */
export const completedTaskFault: Fault = {
  message:
    'The server dropped the message, because its task is already complete. Send it with resumeFrom: "user_response", or ' +
    'without a taskId to start a new task.',
  code: 'mail-completed-task',
};

/** Ends a run on a server older than 1.3, which writes its data with Python's `str(dict)`. */
export const oldServerFault: Fault = {
  message:
    'The server runs MAIL 1.2 or older, whose events are not JSON. Update it to mail-swarms 1.3 (pip install "mail-swarms==1.3.6").',
  code: 'mail-version',
};

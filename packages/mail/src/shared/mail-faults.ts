import type { Fault } from '@intertie/core';

/** The server has no such task: it was restarted, or the task belongs to somebody else. */
export const taskNotFound = 'mail-task-not-found';

/** The last word of a server whose task could not go on. */
export function toTaskFault(response: string): Fault {
  if (/^task '.*' not found$/s.test(response)) {
    return { message: `The MAIL server does not know the task any more: ${response}.`, code: taskNotFound };
  }
  if (response.includes("'breakpoint_tool_call_result' not provided")) {
    const message =
      'The answer to a breakpoint tool did not reach the swarm: /ui/message does not read it. Set authToken, so that ' +
      'POST /message is used.';
    return { message, code: 'mail-no-result' };
  }
  return {
    message: response === '' ? 'The MAIL task failed, and the server did not say why.' : response,
    code: 'mail-task',
  };
}

export function toAgentFault(description: string): Fault {
  return { message: description, code: 'mail-agent' };
}

/** The task was complete before this message, which therefore reaches no agent. Without this the stream pings forever. */
export const completedTaskFault: Fault = {
  message:
    'The message went to a task that was already complete, and the server drops it. Send it with ' +
    'resumeFrom: "user_response", or without a taskId to start a new task.',
  code: 'mail-completed-task',
};

/** Before 1.3 the data was written by Python's `str(dict)`. */
export const oldServerFault: Fault = {
  message:
    'The server speaks MAIL 1.2 or older: its events are no JSON. Update it to mail-swarms 1.3 (pip install "mail-swarms==1.3.6").',
  code: 'mail-version',
};

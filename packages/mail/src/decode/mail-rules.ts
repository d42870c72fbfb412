import type { Rule } from '@intertie/core';

export type MAILRule = 'frame' | 'json' | 'task' | 'description' | 'message' | 'tool' | 'resume' | 'answer' | 'end';

/** Rules for the event stream of a MAIL 1.3 server. */
export const mailRules: ReadonlyArray<Rule & { id: MAILRule }> = [
  {
    id: 'frame',
    sentence: 'An item is a frame with an event name and data.',
    fix: 'Keep the event line of each frame: the data does not repeat the name.',
  },
  {
    id: 'json',
    sentence: 'The data of an event is one JSON object.',
    fix: 'Update the server to MAIL 1.3: older versions write Python literals.',
  },
  {
    id: 'task',
    sentence: 'Every event names its task, and a stream has one task.',
    fix: 'Read the stream of each task separately.',
  },
  {
    id: 'description',
    sentence: 'A logged event has a description.',
    fix: 'Send the description: only it contains the name of the agent.',
  },
  {
    id: 'message',
    sentence: 'A new_message contains the whole message in extra_data.full_message.',
    fix: 'Send full_message: the text in the description cannot be parsed.',
  },
  {
    id: 'tool',
    sentence: 'A tool_call names its tool in extra_data.tool_name.',
    fix: 'Send tool_name, tool_args and tool_call_id.',
  },
  {
    id: 'resume',
    sentence: 'A message to a completed task has resume_from.',
    fix: 'Send resume_from: "user_response". Without it the stream never ends.',
  },
  {
    id: 'answer',
    sentence: 'A final message of an agent, a breakpoint, or a task_error precedes task_complete.',
    fix: 'Check the preceding agent_error: the response is an error message of the runtime, not an answer.',
  },
  {
    id: 'end',
    sentence: 'A stream ends with task_complete, task_error or a breakpoint, and no event follows.',
    fix: 'Read the stream to its end. If the connection was lost, read the task’s record.',
  },
];

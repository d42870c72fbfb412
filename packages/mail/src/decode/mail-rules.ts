import type { Rule } from '@intertie/core';

export type MAILRule = 'frame' | 'json' | 'task' | 'description' | 'message' | 'tool' | 'resume' | 'answer' | 'end';

/** What holds in the event stream of a MAIL 1.3 server. */
export const mailRules: ReadonlyArray<Rule & { id: MAILRule }> = [
  {
    id: 'frame',
    sentence: 'An item is a frame of the event stream: the name of an event, and its data.',
    fix: 'Keep the event line of each frame: the data does not repeat the name.',
  },
  {
    id: 'json',
    sentence: 'The data of an event is one JSON object.',
    fix: 'Update the server to MAIL 1.3: older ones write Python’s own notation.',
  },
  {
    id: 'task',
    sentence: 'Every event names its task, and a stream has one task.',
    fix: 'Read each task’s stream by itself.',
  },
  {
    id: 'description',
    sentence: 'An event that is written down has a description.',
    fix: 'Send the description: the names of agents are nowhere else.',
  },
  {
    id: 'message',
    sentence: 'A new_message holds the whole message in extra_data.full_message.',
    fix: 'Send full_message: the text in the description cannot be read back.',
  },
  {
    id: 'tool',
    sentence: 'A tool_call names its tool in extra_data.tool_name.',
    fix: 'Send tool_name, tool_args and tool_call_id.',
  },
  {
    id: 'resume',
    sentence: 'A message to a task that is complete says that it resumes it.',
    fix: 'Send resume_from: "user_response". Without it the stream never ends.',
  },
  {
    id: 'answer',
    sentence: 'Before task_complete comes the final message of an agent, a breakpoint, or a task_error.',
    fix: 'Look for the agent_error before it: the response is the runtime’s complaint, not an answer.',
  },
  {
    id: 'end',
    sentence: 'A stream ends with task_complete or task_error, or at a breakpoint, and nothing comes after it.',
    fix: 'Read the stream to its end. If the connection was lost, read the task’s record.',
  },
];

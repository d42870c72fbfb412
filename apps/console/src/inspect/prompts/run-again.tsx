import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { api, formatError, type AgentInfo } from '../../api.ts';
import { getText } from '../../chat/message/message-content.ts';
import { AgentPicker } from '../../agents/agent-picker.tsx';
import type { PaneProps } from '../../inspect-types.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';

/** Form that sends the user's message of a run again, with another text or to another agent. */
export function RunAgain(props: {
  threadId: string;
  /** Message that the run answered. */
  messageId: string;
  agent: string | undefined;
  onRunAgain: PaneProps['onRunAgain'];
  onClose: () => void;
}): ReactNode {
  const { threadId, messageId, onRunAgain, onClose } = props;
  const [text, setText] = useState<string>();
  const [agent, setAgent] = useState(props.agent);
  const [agents, setAgents] = useState<readonly AgentInfo[]>([]);
  const [error, setError] = useState<string>();
  useEffect(() => {
    const read = async (): Promise<void> => {
      const [thread, server] = await Promise.all([api.messages(threadId, { leaf: messageId }), api.server()]);
      const message = thread.messages.find(({ id }) => id === messageId);
      setText(message ? getText(message) : '');
      setAgents(server.agents);
    };
    void read().catch((cause: unknown) => setError(formatError(cause)));
  }, [threadId, messageId]);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const rejection = await onRunAgain(messageId, { text: text ?? '', agent: agent ?? '' });
    setError(rejection);
    if (rejection === undefined) onClose();
  };
  return (
    <form className="run-again" aria-label="Run again with a change" onSubmit={(event) => void submit(event)}>
      <label>
        Message
        <textarea
          className="field"
          rows={3}
          autoFocus
          disabled={text === undefined}
          value={text ?? ''}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="row">
        <AgentPicker agents={agents} agent={agent} onChoose={setAgent} />
        <span className="grow" />
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button variant="primary" type="submit" disabled={(text ?? '').trim() === ''}>
          Run as a new branch
        </Button>
      </div>
      <ErrorMessage text={error} />
    </form>
  );
}

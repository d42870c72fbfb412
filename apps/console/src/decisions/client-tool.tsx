import type { Json } from '@intertie/core';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { SchemaForm } from './schema-form.tsx';
import { useAnswer } from './use-answer.ts';

/** Form for the result of a client-side tool: in the console, the user acts as the tool. */
export function ClientTool({
  toolCallId,
  schema,
  question,
}: {
  toolCallId: string;
  schema: Json | undefined;
  /** Question in the tool input, if it has one. */
  question: string | undefined;
}): ReactNode {
  const { canAnswer, isSending, sent, error, send } = useAnswer();
  if (sent !== undefined)
    return <p className="decided">{'error' in sent ? 'You reported a failure.' : 'You submitted the result.'}</p>;
  if (!canAnswer) return undefined;
  return (
    <div className="decision">
      <p>{question ?? 'This tool runs on the client. Enter its result:'}</p>
      <SchemaForm
        schema={schema}
        submitLabel="Submit result"
        isDisabled={isSending}
        onSubmit={(output) => send({ toolCallId, output })}
      >
        <Button
          variant="quiet"
          disabled={isSending}
          onClick={() => send({ toolCallId, error: 'The client tool failed.' })}
        >
          Report failure
        </Button>
      </SchemaForm>
      <ErrorMessage text={error} />
    </div>
  );
}

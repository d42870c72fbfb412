import type { Json } from '@intertie/core';
import type { ReactNode } from 'react';
import type { AnswerInput } from '../api.ts';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { SchemaForm } from './schema-form.tsx';
import { useAnswer } from './use-answer.ts';

/** Form for the result of a client-side tool: in the console, the user acts as the tool. */
export function ClientTool({
  toolCallId,
  schema,
  question,
  choices,
}: {
  toolCallId: string;
  schema: Json | undefined;
  /** Question in the tool input, if it has one. */
  question: string | undefined;
  /** Choices in the tool input, if it has any. */
  choices?: readonly string[] | undefined;
}): ReactNode {
  const { canAnswer, isSending, sent, error, send } = useAnswer();
  if (sent !== undefined) return <p className="decided">{describeSent(sent, question !== undefined)}</p>;
  if (!canAnswer) return undefined;
  return (
    <div className="decision">
      {question === undefined && <p>This tool runs on the client. Enter its result:</p>}
      {choices && (
        <div className="row" role="group" aria-label="Choices">
          {choices.map((choice) => (
            <Button key={choice} disabled={isSending} onClick={() => send({ toolCallId, output: choice })}>
              {choice}
            </Button>
          ))}
        </div>
      )}
      <SchemaForm
        schema={schema}
        submitLabel={question === undefined ? 'Submit result' : 'Answer'}
        isDisabled={isSending}
        onSubmit={(output) => send({ toolCallId, output })}
      >
        <Button
          variant="quiet"
          disabled={isSending}
          onClick={() =>
            send({
              toolCallId,
              error: question === undefined ? 'The client tool failed.' : 'The user declined to answer.',
            })
          }
        >
          {question === undefined ? 'Report failure' : 'Decline to answer'}
        </Button>
      </SchemaForm>
      <ErrorMessage text={error} />
    </div>
  );
}

function describeSent(sent: AnswerInput, isQuestion: boolean): string {
  if ('error' in sent) return isQuestion ? 'You declined to answer.' : 'You reported a failure.';
  return isQuestion ? 'Answered.' : 'You submitted the result.';
}

import type { Json } from '@intertie/core';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/problem.tsx';
import { SchemaForm } from './schema-form.tsx';
import { useAnswer } from './use-answer.ts';

/** A call that the client answers: here, the person at the page is the tool. */
export function ClientTool({
  toolCallId,
  schema,
  question,
}: {
  toolCallId: string;
  schema: Json | undefined;
  /** What the call asks, where it asks in words. */
  question: string | undefined;
}): ReactNode {
  const { canAnswer, isSending, given, complaint, give } = useAnswer();
  if (given !== undefined)
    return <p className="decided">{'error' in given ? 'It failed, you said.' : 'You gave the result.'}</p>;
  if (!canAnswer) return undefined;
  return (
    <div className="decision">
      <p>{question ?? 'The client runs this tool. Give its result:'}</p>
      <SchemaForm
        schema={schema}
        submitLabel="Give the result"
        isDisabled={isSending}
        onSubmit={(output) => give({ toolCallId, output })}
      >
        <Button look="quiet" disabled={isSending} onClick={() => give({ toolCallId, error: 'The client has failed.' })}>
          It failed
        </Button>
      </SchemaForm>
      <Problem text={complaint} />
    </div>
  );
}

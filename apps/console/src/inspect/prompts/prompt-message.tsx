import type { Json, JsonObject } from '@intertie/core';
import type { ReactNode } from 'react';
import { JsonView } from '../../ui/json-view.tsx';

const roles: { readonly [role: string]: string } = {
  system: 'Instructions',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool results',
};

/** One message of a prompt. Content that is not text is shown as JSON. */
export function PromptMessage({ message }: { message: Json }): ReactNode {
  const { role, content, truncated } = asObject(message);
  if (typeof role !== 'string') {
    return <JsonView label={truncated === true ? 'Large message, cut' : 'Message'} value={message} />;
  }
  const parts: readonly Json[] = Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }];
  return (
    <section className="prompt-message" data-role={role}>
      <h3>{roles[role] ?? role}</h3>
      {parts.map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </section>
  );
}

function Part({ part }: { part: Json }): ReactNode {
  const fields = asObject(part);
  const type = asText(fields.type);
  const text = fields.text;
  if ((type === 'text' || type === 'reasoning') && typeof text === 'string') {
    if (text.length > 4000) return <JsonView label={type === 'text' ? 'Text' : 'Reasoning'} value={text} />;
    return <p data-type={type}>{text}</p>;
  }
  const toolName = asText(fields.toolName);
  if (type === 'tool-call') return <JsonView label={`Call of ${toolName}`} value={fields.input} />;
  if (type === 'tool-result') return <JsonView label={`Result of ${toolName}`} value={getOutput(fields.output)} />;
  return <JsonView label={type === 'file' ? `File ${asText(fields.mediaType)}` : type || 'Part'} value={part} />;
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the value of a tool output, without its type. */
function getOutput(output: Json | undefined): Json | undefined {
  const { value } = asObject(output);
  return value ?? output;
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

import type { Json } from '@intertie/core';
import { useId, useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { getInitialEntry, createForm, parseEntries, type Field } from './schema-fields.ts';

function submitOnModEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.requestSubmit();
}

/** Form generated from a JSON schema. `children` are additional buttons. */
export function SchemaForm({
  schema,
  submitLabel,
  isDisabled,
  onSubmit,
  children,
}: {
  schema: Json | undefined;
  submitLabel: string;
  isDisabled: boolean;
  onSubmit: (value: Json) => void;
  children?: ReactNode;
}): ReactNode {
  const [form] = useState(() => createForm(schema));
  const [entries, setEntries] = useState(() =>
    Object.fromEntries(form.fields.map((field) => [field.name, getInitialEntry(field)])),
  );
  const [invalid, setInvalid] = useState<{ field: string; problem: string }>();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const parsed = parseEntries(form, entries);
    if ('value' in parsed) onSubmit(parsed.value);
    else setInvalid(parsed);
  };
  return (
    <form className="schema-form" onSubmit={submit} onKeyDown={submitOnModEnter} noValidate>
      {form.fields.map((field) => (
        <FormField
          key={field.name}
          field={field}
          entry={entries[field.name] ?? ''}
          problem={invalid?.field === field.name ? invalid.problem : undefined}
          onChange={(entry) => {
            setEntries({ ...entries, [field.name]: entry });
            if (invalid?.field === field.name) setInvalid(undefined);
          }}
        />
      ))}
      <div className="row">
        <Button variant="primary" type="submit" disabled={isDisabled}>
          {submitLabel}
        </Button>
        {children}
      </div>
    </form>
  );
}

type FormFieldProps = { field: Field; entry: string; problem: string | undefined; onChange: (entry: string) => void };

function FormField({ field, entry, problem, onChange }: FormFieldProps): ReactNode {
  const id = useId();
  const { label, description, type, isRequired } = field;
  const hint = problem ?? description;
  const shared = {
    id,
    className: 'field',
    value: entry,
    'aria-required': isRequired,
    'aria-invalid': problem !== undefined,
    ...(hint !== undefined && { 'aria-describedby': `${id}-hint` }),
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  if (type === 'boolean') {
    return (
      <label className="check">
        <input
          type="checkbox"
          checked={entry === 'true'}
          onChange={(event) => onChange(String(event.target.checked))}
        />
        {label}
        {hint !== undefined && <small>{hint}</small>}
      </label>
    );
  }
  return (
    <div className="entry">
      <label htmlFor={id}>
        {label}
        {!isRequired && <small> optional</small>}
      </label>
      {type === 'choice' ? (
        <select {...shared}>
          <option value="">Choose…</option>
          {field.choices?.map((choice, index) => (
            <option key={index} value={index}>
              {typeof choice === 'string' ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      ) : type === 'long-text' || type === 'json' ? (
        <textarea {...shared} rows={type === 'json' ? 4 : 2} {...(type === 'json' && { spellCheck: false })} />
      ) : (
        <input {...shared} type={type === 'text' ? 'text' : 'number'} step={type === 'number' ? 'any' : undefined} />
      )}
      {hint !== undefined && (
        <small id={`${id}-hint`} className={problem === undefined ? undefined : 'problem'}>
          {hint}
        </small>
      )}
    </div>
  );
}

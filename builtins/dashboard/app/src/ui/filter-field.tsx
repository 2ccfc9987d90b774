import { type KeyboardEvent, useId, useState } from 'react';
import { Field } from './form.tsx';

export interface FilterFieldProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  /** What the reader is likely to look for; anything else may be typed. */
  readonly suggestions?: readonly string[];
  readonly onChange: (value: string) => void;
}

/** A filter that takes effect once it is typed: on Enter, on leaving it, on choosing a suggestion. */
export function FilterField({ label, value, placeholder, suggestions = [], onChange }: FilterFieldProps) {
  const list = useId();
  const [draft, setDraft] = useState(value);
  const [last, setLast] = useState(value);
  if (last !== value) {
    // the address changed: going back, or a filter that was cleared elsewhere
    setLast(value);
    setDraft(value);
  }
  const commit = (next: string): void => {
    if (next.trim() !== value) onChange(next.trim());
  };
  const change = (next: string): void => {
    setDraft(next);
    if (next === '' || suggestions.includes(next)) commit(next);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') commit(draft);
  };
  return (
    <Field label={label}>
      {(control) => (
        <>
          <input
            {...control}
            className="input"
            type="search"
            value={draft}
            placeholder={placeholder}
            list={list}
            autoComplete="off"
            onChange={(event) => change(event.target.value)}
            onBlur={() => commit(draft)}
            onKeyDown={press}
          />
          <datalist id={list}>
            {suggestions.map((suggestion) => (
              <option key={suggestion} value={suggestion} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

import { useEffect, useId, useState } from 'react';
import { Field } from './form.tsx';

const WAIT_MS = 300;

export interface FilterTextProps {
  readonly label: string;
  /** As the address has it. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  readonly suggestions?: readonly string[];
}

/** A filter that is typed: it takes hold when the reader pauses, not at each letter. */
export function FilterText({ label, value, onChange, placeholder, suggestions = [] }: FilterTextProps) {
  const list = useId();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]); // the way back changes the address only
  useEffect(() => {
    if (typed.trim() === value) return undefined;
    const timer = setTimeout(() => onChange(typed.trim()), WAIT_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <Field label={label}>
      {(control) => (
        <>
          <input
            {...control}
            className="input"
            value={typed}
            placeholder={placeholder}
            list={list}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
          />
          <datalist id={list}>
            {suggestions.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

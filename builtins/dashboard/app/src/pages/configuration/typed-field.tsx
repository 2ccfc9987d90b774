import { useEffect, useId, useState } from 'react';
import { Field } from '../../ui/form.tsx';

export interface TypedFieldProps {
  readonly label: string;
  readonly value: string;
  /** Called when the reader leaves the field, or presses Enter. */
  readonly onCommit: (value: string) => void;
  readonly suggestions?: readonly string[];
  readonly isDisabled?: boolean;
  readonly inputMode?: 'text' | 'decimal';
}

/** A text that counts once it is whole: a name that is half typed is not a change of the configuration. */
export function TypedField({
  label,
  value,
  onCommit,
  suggestions = [],
  isDisabled = false,
  inputMode = 'text',
}: TypedFieldProps) {
  const list = useId();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const commit = (): void => {
    if (typed !== value) onCommit(typed);
  };
  return (
    <Field label={label}>
      {(control) => (
        <>
          <input
            {...control}
            className="input"
            value={typed}
            list={list}
            disabled={isDisabled}
            inputMode={inputMode}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
            onBlur={commit}
            onKeyDown={(event) => {
              if (event.key === 'Enter') commit();
            }}
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

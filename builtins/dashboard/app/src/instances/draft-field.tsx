import { useId, useState } from 'react';
import { Field } from '../ui/form.tsx';

export interface DraftFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly isRequired?: boolean;
  /** What is wrong. */
  readonly fault?: string | undefined;
  /** Whether what is wrong is shown already: the form was sent, or nothing that could be typed behind it makes it right. */
  readonly showsFault: boolean;
  readonly inputMode?: 'text' | 'decimal';
  readonly suggestions?: readonly string[];
}

/** A text of a form. While it is typed it shows what was typed, of a list also a comma at its end. */
export function DraftField({
  label,
  value,
  onChange,
  hint,
  placeholder,
  isRequired = false,
  fault,
  showsFault,
  inputMode = 'text',
  suggestions,
}: DraftFieldProps) {
  const list = useId();
  const [typed, setTyped] = useState<string>();
  return (
    <Field label={isRequired ? `${label} (required)` : label} hint={hint} error={showsFault ? fault : undefined}>
      {(control) => (
        <>
          <input
            {...control}
            className="input"
            value={typed ?? value}
            placeholder={placeholder}
            inputMode={inputMode}
            list={suggestions === undefined ? undefined : list}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => {
              setTyped(event.target.value);
              onChange(event.target.value);
            }}
            onBlur={() => setTyped(undefined)}
          />
          {suggestions !== undefined && (
            <datalist id={list}>
              {suggestions.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

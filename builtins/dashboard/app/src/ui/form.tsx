import { type ComponentProps, type ReactNode, useId } from 'react';

export interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Whether the label is for those who do not see the form only. */
  readonly hidesLabel?: boolean;
  readonly children: (control: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': true | undefined;
  }) => ReactNode;
}

/** A label, its control, a hint and what is wrong, tied together. */
export function Field({ label, hint, error, hidesLabel = false, children }: FieldProps) {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className="field">
      <label className={hidesLabel ? 'visually-hidden' : 'field-label'} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

type Common = Omit<FieldProps, 'children'>;

export function TextField({
  label,
  hint,
  error,
  hidesLabel,
  ...rest
}: Common & Omit<ComponentProps<'input'>, 'id' | 'className'>) {
  return (
    <Field label={label} hint={hint} error={error} hidesLabel={hidesLabel ?? false}>
      {(control) => <input {...rest} {...control} className="input" />}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  hidesLabel,
  ...rest
}: Common & Omit<ComponentProps<'textarea'>, 'id' | 'className'>) {
  return (
    <Field label={label} hint={hint} error={error} hidesLabel={hidesLabel ?? false}>
      {(control) => <textarea {...rest} {...control} className="input text-area" />}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  hidesLabel,
  children,
  ...rest
}: Common & Omit<ComponentProps<'select'>, 'id' | 'className'>) {
  return (
    <Field label={label} hint={hint} error={error} hidesLabel={hidesLabel ?? false}>
      {(control) => (
        <select {...rest} {...control} className="input select">
          {children}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  hint,
  ...rest
}: { readonly label: ReactNode; readonly hint?: string } & Omit<ComponentProps<'input'>, 'type' | 'className' | 'id'>) {
  const id = useId();
  return (
    <div className="checkbox">
      <input {...rest} id={id} type="checkbox" aria-describedby={hint === undefined ? undefined : `${id}-hint`} />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p className="field-hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** One of a few, all seen at once: windows of time, kinds of view. */
export function Segmented({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onChange: (value: string) => void;
}) {
  const name = useId();
  return (
    <fieldset className="segmented">
      <legend className="visually-hidden">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} className="segment">
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Filters in a row above what they filter. */
export function Filters({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="filters" role="group" aria-label={label}>
      {children}
    </div>
  );
}

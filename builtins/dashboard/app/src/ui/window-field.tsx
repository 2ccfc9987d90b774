import { WINDOWS } from '../lib/record-window.ts';
import { SelectField } from './form.tsx';

/** From when on records are shown. */
export function WindowField({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <SelectField label="Window" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">All time</option>
      {WINDOWS.map(([name, label]) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </SelectField>
  );
}

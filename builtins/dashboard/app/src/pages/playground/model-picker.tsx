import { SelectField } from '../../ui/form.tsx';
import type { ModelGroup } from './models.ts';

export function ModelPicker({
  label,
  groups,
  value,
  onChange,
}: {
  readonly label: string;
  readonly groups: readonly ModelGroup[];
  readonly value: string;
  readonly onChange: (model: string) => void;
}) {
  const isListed = groups.some(({ ids }) => ids.includes(value));
  return (
    <SelectField label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {!isListed && value !== '' && <option value={value}>{value}</option>}
      {groups.map(({ owner, ids }) => (
        <optgroup key={owner} label={owner}>
          {ids.map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </optgroup>
      ))}
    </SelectField>
  );
}

import { blockAt, listOf, shown, withInner, withMember } from '../lib/form-values.ts';
import { SelectField } from '../ui/form.tsx';
import { CredentialFields } from './credential-fields.tsx';
import { DraftField } from './draft-field.tsx';
import type { Faults } from './faults.ts';
import { choicesOf, type InstanceDraft, type Kind } from './instance-block.ts';

/** Members of an entry that the form shows; all others stay as they are. */
const SHOWN: ReadonlySet<string> = new Set(['kind', 'base_url', 'settings', 'models']);

export interface InstanceFieldsProps {
  readonly draft: InstanceDraft;
  readonly kinds: readonly Kind[];
  readonly isNew: boolean;
  readonly faults: Faults;
  readonly showsFaults: boolean;
  readonly onChange: (draft: InstanceDraft) => void;
}

/** What an instance is: its kind, where it is, the settings of the kind, and where its secrets are read from. */
export function InstanceFields({ draft, kinds, isNew, faults, showsFaults, onChange }: InstanceFieldsProps) {
  const { name, block } = draft;
  const kind = shown(block['kind']);
  const known = kinds.find(({ id }) => id === kind);
  const { needsAddress, settings, secrets } = choicesOf(known, draft);
  const fault = (place: string) => ({ fault: faults.get(place), showsFault: showsFaults });
  const change = (key: string, value: unknown): void => onChange({ ...draft, block: withMember(block, key, value) });
  const written = blockAt(block, 'settings');
  const hasNoModels = Array.isArray(block['models']) && block['models'].length === 0;
  const kept = Object.keys(block).filter((key) => !SHOWN.has(key));
  return (
    <>
      <div className="instance-fields">
        {isNew && (
          <DraftField
            label="Name"
            isRequired
            value={name}
            hint="Clients see it; a target takes the instance by it."
            onChange={(text) => onChange({ ...draft, name: text.trim() })}
            {...fault('name')}
          />
        )}
        <SelectField
          label="Kind"
          value={kind}
          error={faults.get('kind')}
          onChange={(event) => change('kind', event.target.value)}
        >
          {(known ? kinds : [{ id: kind }, ...kinds]).map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </SelectField>
        <DraftField
          label="Address"
          isRequired={needsAddress}
          value={shown(block['base_url'])}
          placeholder={needsAddress ? 'http://gpu.internal:8000' : "the kind's own"}
          onChange={(text) => change('base_url', text.trim() || undefined)}
          {...fault('base_url')}
          showsFault
        />
        {settings.map(({ key, isRequired }) => (
          <DraftField
            key={key}
            label={key}
            isRequired={isRequired}
            value={shown(written[key])}
            onChange={(text) =>
              onChange({ ...draft, block: withInner(block, 'settings', key, settingFrom(written[key], text)) })
            }
            {...fault(`settings.${key}`)}
          />
        ))}
        <DraftField
          label="Models"
          value={shown(block['models'])}
          placeholder={hasNoModels ? 'none: routes of groups alone' : 'what the catalog and the service list'}
          hint="Ids with commas between; they replace all other lists."
          onChange={(text) => change('models', listOf(text))}
          {...fault('models')}
        />
      </div>
      {!isNew && faults.get('name') !== undefined && (
        <p className="field-error" role="alert">
          {faults.get('name')}
        </p>
      )}
      {kept.length > 0 && (
        <p className="muted">Kept as they are: {kept.join(', ')}. The page Configuration has all of the entry.</p>
      )}
      <CredentialFields draft={draft} secrets={secrets} faults={faults} showsFaults={showsFaults} onChange={onChange} />
    </>
  );
}

/** A setting that is a list stays one. */
const settingFrom = (before: unknown, text: string): unknown =>
  Array.isArray(before) ? listOf(text) : text.trim() || undefined;

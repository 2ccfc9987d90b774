import { Plus, Trash2 } from 'lucide-react';
import type { Fields } from '../lib/fields.ts';
import { listOf, numberOf, replaced, shown, withMember } from '../lib/form-values.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { DraftField } from './draft-field.tsx';
import type { Faults } from './faults.ts';
import type { InstanceDraft, KeyChoice } from './instance-block.ts';
import { isBegun } from './reference.ts';

export interface CredentialFieldsProps {
  readonly draft: InstanceDraft;
  readonly secrets: readonly KeyChoice[];
  readonly faults: Faults;
  readonly showsFaults: boolean;
  readonly onChange: (draft: InstanceDraft) => void;
}

/** The credentials of an instance, each a set of references: no field of it takes a value. */
export function CredentialFields({ draft, secrets, faults, showsFaults, onChange }: CredentialFieldsProps) {
  const { credentials } = draft;
  const set = (next: readonly Fields[]): void => onChange({ ...draft, credentials: next });
  return (
    <section className="instance-credentials" aria-label="Credentials">
      <div className="instance-credentials-head">
        <h3 className="instance-part">Credentials</h3>
        <Button size="small" icon={Plus} onClick={() => set([...credentials, { name: freeName(credentials) }])}>
          Add credential
        </Button>
      </div>
      <p className="muted">
        References only: a variable of the gateway as <code>{'${NAME}'}</code>, or a file as{' '}
        <code>{'${file:/run/secrets/name}'}</code>. What they stand for is never shown here.
      </p>
      {faults.get('credentials') !== undefined && <FaultText text={faults.get('credentials')} />}
      {credentials.map((credential, at) => (
        <div key={at} className="instance-credential" role="group" aria-label={`Credential ${at + 1}`}>
          <CredentialRow
            credential={credential}
            secrets={secrets}
            faultAt={(key) => faults.get(`credentials[${at}].${key}`)}
            showsFaults={showsFaults}
            onChange={(next) => set(replaced(credentials, at, next))}
          />
          <IconButton
            icon={Trash2}
            label={`Remove credential ${at + 1}`}
            onClick={() => set(credentials.toSpliced(at, 1))}
          />
          <FaultText text={faults.get(`credentials[${at}]`)} />
        </div>
      ))}
    </section>
  );
}

function FaultText({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p className="field-error" role="alert">
      {text}
    </p>
  );
}

/** `key-1`, or the next number that is free. */
function freeName(credentials: readonly Fields[]): string {
  const taken = new Set(credentials.map(({ name }) => name));
  for (let number = 1; ; number += 1) if (!taken.has(`key-${number}`)) return `key-${number}`;
}

function CredentialRow({
  credential,
  secrets,
  faultAt,
  showsFaults,
  onChange,
}: {
  readonly credential: Fields;
  readonly secrets: readonly KeyChoice[];
  readonly faultAt: (key: string) => string | undefined;
  readonly showsFaults: boolean;
  readonly onChange: (credential: Fields) => void;
}) {
  const field = (key: string, read: (text: string) => unknown = (text) => text || undefined) => ({
    value: shown(credential[key]),
    fault: faultAt(key),
    showsFault: showsFaults,
    onChange: (text: string) => onChange(withMember(credential, key, read(text))),
  });
  return (
    <div className="instance-fields">
      <DraftField label="Name" {...field('name')} />
      {secrets.map(({ key, isRequired }) => (
        <DraftField
          key={key}
          label={key}
          isRequired={isRequired}
          placeholder="${NAME}"
          {...field(key, (text) => text.trim() || undefined)}
          showsFault={showsFaults || !isBegun(shown(credential[key]))}
        />
      ))}
      <DraftField label="Weight" inputMode="decimal" placeholder="1" {...field('weight', numberOf)} />
      <DraftField label="Models it may be used for" placeholder="all" {...field('models', listOf)} />
      <DraftField label="Vendor account" placeholder="its own" {...field('vendor_account')} />
    </div>
  );
}

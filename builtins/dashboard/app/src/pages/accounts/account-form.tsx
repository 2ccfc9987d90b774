import { type SyntheticEvent, useState } from 'react';
import { messageOf } from '../../api/api-error.ts';
import type { Account } from '../../api/answers.ts';
import { BudgetFields } from '../../budgets/budget-fields.tsx';
import { budgetProblem, budgetsOf } from '../../budgets/budget-text.ts';
import { Dialog, DialogBody, SubmitActions, useAction } from '../../ui/dialog.tsx';
import { Checkbox, SelectField, TextArea, TextField } from '../../ui/form.tsx';
import { Banner } from '../../ui/states.tsx';
import { changedMembers, jsonProblem, numberProblem, typedAccount, type TypedAccount } from './account-text.ts';

export interface AccountFormProps {
  readonly title: string;
  readonly action: string;
  /** Where a new account begins. */
  readonly path?: string;
  /** The account to be changed; without it one is made. */
  readonly edited?: Account;
  /** What was written before, in a session that has ended. */
  readonly typed: TypedAccount | undefined;
  readonly onType: (typed: TypedAccount) => void;
  /** Sends the body; what it throws is shown inside. */
  readonly onSubmit: (body: object) => Promise<void>;
  readonly onClose: () => void;
}

/** Makes an account or a tag, or changes one. */
export function AccountForm({ title, action, path, edited, typed, onType, onSubmit, onClose }: AccountFormProps) {
  const before = typedAccount(edited, path);
  const fields = typed ?? before;
  const write = (changed: Partial<TypedAccount>): void => onType({ ...fields, ...changed });
  const [hasTried, setTried] = useState(false);
  const problems = problemsOf(fields);
  const { run, isBusy, error } = useAction(() =>
    onSubmit({
      ...(edited ? {} : { path: fields.path.trim() }),
      ...withoutNull(changedMembers(fields, before, budgetsOf(fields.budgets)), edited === undefined),
    }),
  );
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).every((problem) => problem === undefined)) run();
  };
  const shown = hasTried ? problems : {};
  return (
    <Dialog title={title} isWide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <DialogBody>
          {!edited && (
            <TextField
              label="Path"
              hint="An account such as /acme/search, or a tag such as #nightly. It never changes."
              value={fields.path}
              error={shown.path}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => write({ path: event.target.value })}
            />
          )}
          <TextField
            label="Title"
            hint="What people call it."
            value={fields.title}
            autoComplete="off"
            onChange={(event) => write({ title: event.target.value })}
          />
          <Checkbox
            label="Blocked"
            hint="Every request of models below it is refused."
            checked={fields.isBlocked}
            onChange={(event) => write({ isBlocked: event.target.checked })}
          />
          {edited?.inherited?.includes('budgets') && (
            <Banner tone="info">Its budgets come from above. Budgets of its own take their place.</Banner>
          )}
          <BudgetFields budgets={fields.budgets} showsProblems={hasTried} onChange={(budgets) => write({ budgets })} />
          <LimitFields fields={fields} problems={shown} onChange={write} />
          <MoreFields fields={fields} problems={shown} onChange={write} />
          {error !== undefined && <Banner tone="bad">{messageOf(error)}</Banner>}
        </DialogBody>
        <SubmitActions action={action} isBusy={isBusy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

type Problems = Partial<Record<keyof TypedAccount, string | undefined>>;

interface FieldsProps {
  readonly fields: TypedAccount;
  readonly problems: Problems;
  readonly onChange: (changed: Partial<TypedAccount>) => void;
}

const NUMBERS = [
  ['rpm', 'Requests per minute'],
  ['tpm', 'Tokens per minute'],
  ['max_parallel', 'Requests in flight'],
] as const;
const LISTS = [
  ['modelsAllow', 'Models allowed'],
  ['modelsDeny', 'Models denied'],
  ['providersAllow', 'Targets allowed'],
  ['providersDeny', 'Targets denied'],
] as const;

function LimitFields({ fields, problems, onChange }: FieldsProps) {
  const isTag = fields.path.trim().startsWith('#');
  return (
    <details className="account-more" open={isBound(fields)}>
      <summary>Limits</summary>
      <div className="account-fields">
        {NUMBERS.map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            hint="Of all keys together; empty for no limit."
            value={fields[name]}
            error={problems[name]}
            inputMode="numeric"
            autoComplete="off"
            onChange={(event) => onChange({ [name]: event.target.value })}
          />
        ))}
        <SelectField
          label="Models without a price"
          value={fields.unpriced}
          onChange={(event) => onChange({ unpriced: event.target.value })}
        >
          <option value="">As the configuration says</option>
          <option value="refuse">Refuse</option>
          <option value="warn">Warn</option>
          <option value="allow">Allow</option>
        </SelectField>
        {LISTS.map(([name, label]) => (
          <TextField
            key={name}
            label={label}
            hint="Names between commas, each exact or a beginning and *."
            value={fields[name]}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange({ [name]: event.target.value })}
          />
        ))}
        {isTag ? (
          <SelectField
            label="Who may bring it"
            value={fields.brought_by}
            onChange={(event) => onChange({ brought_by: event.target.value })}
          >
            <option value="key">Keys</option>
            <option value="request">Requests</option>
            <option value="both">Keys and requests</option>
          </SelectField>
        ) : (
          <TextField
            label="Tags that requests need"
            hint="Names between commas, without #."
            value={fields.required_tags}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange({ required_tags: event.target.value })}
          />
        )}
      </div>
    </details>
  );
}

/** What has no form of its own is written as the admin API has it. */
function MoreFields({ fields, problems, onChange }: FieldsProps) {
  const isTag = fields.path.trim().startsWith('#');
  return (
    <details className="account-more" open={fields.session !== '' || fields.child_default !== ''}>
      <summary>Sessions{isTag ? '' : ' and accounts below'}</summary>
      <TextArea
        label="Budgets of each session"
        hint='JSON, such as {"budgets": [{"usd": 1}]}'
        value={fields.session}
        error={problems.session}
        rows={4}
        spellCheck={false}
        onChange={(event) => onChange({ session: event.target.value })}
      />
      {!isTag && (
        <TextArea
          label="Defaults of each account below"
          hint='JSON, such as {"rpm": 60, "budgets": [{"usd": 5, "every": "day"}]}'
          value={fields.child_default}
          error={problems.child_default}
          rows={4}
          spellCheck={false}
          onChange={(event) => onChange({ child_default: event.target.value })}
        />
      )}
    </details>
  );
}

const isBound = (fields: TypedAccount): boolean =>
  [...NUMBERS, ...LISTS].some(([name]) => fields[name] !== '') || fields.unpriced !== '' || fields.required_tags !== '';

function problemsOf(fields: TypedAccount): Problems {
  return {
    path: /^[/#]/.test(fields.path.trim()) ? undefined : 'A path begins with /, a tag with #.',
    budgets: fields.budgets.map(budgetProblem).find((problem) => problem !== undefined),
    rpm: numberProblem(fields.rpm),
    tpm: numberProblem(fields.tpm),
    max_parallel: numberProblem(fields.max_parallel),
    session: jsonProblem(fields.session),
    child_default: jsonProblem(fields.child_default),
  };
}

/** A new account has nothing that could be taken away. */
const withoutNull = (members: Readonly<Record<string, unknown>>, isNew: boolean): object =>
  isNew ? Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) : members;

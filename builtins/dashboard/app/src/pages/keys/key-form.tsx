import { type ReactNode, type SyntheticEvent, useState } from 'react';
import type { ApiKey } from '../../api/admin-wire.ts';
import { KEY_LIMIT_FIELDS } from '../../api/answers.ts';
import { useApi } from '../../services.ts';
import { Dialog, DialogBody, SubmitActions, useAction } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/form.tsx';
import { Banner } from '../../ui/states.tsx';
import { messageOf } from '../../api/api-error.ts';
import { BudgetFields } from '../../budgets/budget-fields.tsx';
import { budgetProblem, budgetsOf, isSameList, type TypedBudget, typedBudgets } from '../../budgets/budget-text.ts';
import { EXPIRIES, inDays, namesIn } from './key-state.ts';

const LONGEST_NAME = 80;
/** What a key may reach: how the choice is called, and what is sent of it. */
const REACHES = {
  inference: {
    label: 'Calls models',
    hint: 'And nothing else of this gateway.',
    body: { scopes: ['read_only'], access: 'inference' }, // an admin key that is narrowed must name its scopes
  },
  read_only: {
    label: 'Calls models and reads this dashboard',
    hint: 'Sees keys, logs, spend and the configuration, and changes nothing.',
    body: { scopes: ['read_only'], access: 'full' },
  },
  admin: {
    label: 'Administers everything',
    hint: 'Changes keys, sessions and the configuration.',
    body: { scopes: ['admin'], access: 'full' },
  },
} as const;
type Reach = keyof typeof REACHES;
const REACH_NAMES = Object.keys(REACHES) as Reach[];

const reachOf = (edited: ApiKey | undefined): Reach => {
  if (!edited || edited.access === 'inference') return 'inference';
  return edited.scopes.includes('admin') ? 'admin' : 'read_only';
};

type Limit = keyof typeof KEY_LIMIT_FIELDS;
/** The limits of a key, as they are typed. */
type TypedLimits = Readonly<Record<Limit, string>>;
const LIMIT_NAMES = Object.keys(KEY_LIMIT_FIELDS) as Limit[];
const kindOf = (limit: Limit): 'text' | 'texts' | 'integer' | 'amount' => KEY_LIMIT_FIELDS[limit].kind;
const isList = (limit: Limit): boolean => kindOf(limit) === 'texts';
const isText = (limit: Limit): boolean => isList(limit) || kindOf(limit) === 'text';

/** What is written in the form. */
export interface KeyFields {
  readonly name: string;
  readonly reach: Reach;
  readonly expiry: string;
  readonly limits: TypedLimits;
  /** `undefined` in what was written before there were any. */
  readonly budgets?: readonly TypedBudget[];
}

export interface KeyFormProps {
  readonly title: string;
  readonly action: string;
  /** What was written before, in a session that has ended. */
  readonly typed: KeyFields | undefined;
  readonly onType: (fields: KeyFields) => void;
  /** The key to be changed; without it one is made. */
  readonly edited?: ApiKey;
  /** Sends the body; what it throws is shown inside. */
  readonly onSubmit: (body: object) => Promise<void>;
  readonly onClose: () => void;
}

/** Makes a key, or changes one. */
export function KeyForm({ title, action, edited, typed, onType, onSubmit, onClose }: KeyFormProps) {
  const api = useApi();
  const fields = typed ?? fieldsOf(edited);
  const { name, reach, expiry, limits, budgets = [] } = fields;
  const write = (changed: Partial<KeyFields>): void => onType({ ...fields, ...changed });
  const [hadLimits] = useState(() => budgets.length > 0 || LIMIT_NAMES.some((limit) => limits[limit] !== ''));
  const [hasTried, setTried] = useState(false);
  const problems = {
    name: name === edited?.name ? undefined : nameProblem(name),
    ...limitProblems(limits),
    budgets: budgets.map(budgetProblem).find((problem) => problem !== undefined),
  };
  const { run, isBusy, error } = useAction(() =>
    onSubmit({
      name: name.trim(),
      ...(edited && reach === reachOf(edited) ? {} : REACHES[reach].body),
      ...expiryOf(expiry, api.now()),
      ...limitsOf(limits, edited),
      ...(isSameList(budgets, typedBudgets(edited?.budgets)) ? {} : { budgets: budgetsOf(budgets) }),
    }),
  );
  const shown = hasTried ? problems : undefined;
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (Object.values(problems).every((problem) => problem === undefined)) run();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <DialogBody>
          <TextField
            label="Name"
            value={name}
            error={shown?.name}
            autoComplete="off"
            onChange={(event) => write({ name: event.target.value })}
          />
          <SelectField
            label="What it may do"
            hint={REACHES[reach].hint}
            value={reach}
            onChange={(event) =>
              write({ reach: REACH_NAMES.find((each) => each === event.target.value) ?? 'inference' })
            }
          >
            {REACH_NAMES.map((each) => (
              <option key={each} value={each}>
                {REACHES[each].label}
              </option>
            ))}
          </SelectField>
          <SelectField label="Expiry" value={expiry} onChange={(event) => write({ expiry: event.target.value })}>
            {edited && <option value="keep">Keep as it is</option>}
            {EXPIRIES.map(([days, label]) => (
              <option key={days} value={days}>
                {edited ? `${label} from now` : `In ${label}`}
              </option>
            ))}
            <option value="never">Never</option>
          </SelectField>
          <LimitFields limits={limits} problems={shown} onChange={(next) => write({ limits: next })} isOpen={hadLimits}>
            <BudgetFields budgets={budgets} showsProblems={hasTried} onChange={(next) => write({ budgets: next })} />
          </LimitFields>
          {error !== undefined && <Banner tone="bad">{messageOf(error)}</Banner>}
        </DialogBody>
        <SubmitActions action={action} isBusy={isBusy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function fieldsOf(edited: ApiKey | undefined): KeyFields {
  return {
    name: edited?.name ?? '',
    reach: reachOf(edited),
    expiry: edited ? 'keep' : '30',
    limits: typedLimits(edited),
    budgets: typedBudgets(edited?.budgets),
  };
}

interface LimitFieldsProps {
  readonly limits: TypedLimits;
  readonly problems: Partial<Record<Limit, string | undefined>> | undefined;
  readonly onChange: (limits: TypedLimits) => void;
  readonly isOpen: boolean;
  readonly children: ReactNode;
}

function LimitFields({ limits, problems, onChange, isOpen, children }: LimitFieldsProps) {
  return (
    <details className="key-limits" open={isOpen}>
      <summary>Limits of this key</summary>
      <div className="key-limit-fields">
        {LIMIT_NAMES.map((limit) => (
          <TextField
            key={limit}
            label={KEY_LIMIT_FIELDS[limit].label}
            hint={KEY_LIMIT_FIELDS[limit].hint}
            error={problems?.[limit]}
            value={limits[limit]}
            autoComplete="off"
            inputMode={isText(limit) ? 'text' : 'decimal'}
            onChange={(event) => onChange({ ...limits, [limit]: event.target.value })}
          />
        ))}
      </div>
      {children}
    </details>
  );
}

function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'Give the key a name.';
  return name.trim().length > LONGEST_NAME ? `A name has at most ${LONGEST_NAME} characters.` : undefined;
}

function limitProblems(limits: TypedLimits): Partial<Record<Limit, string | undefined>> {
  return Object.fromEntries(LIMIT_NAMES.map((limit) => [limit, limitProblem(limit, limits[limit].trim())]));
}

function limitProblem(limit: Limit, text: string): string | undefined {
  if (isText(limit) || text === '') return undefined;
  const value = Number(text);
  if (kindOf(limit) === 'amount')
    return value > 0 && Number.isFinite(value) ? undefined : 'A budget is a number above 0.';
  return Number.isInteger(value) && value >= 1 ? undefined : 'A limit is a whole number from 1.';
}

function typedLimits(key: ApiKey | undefined): TypedLimits {
  const text = (limit: Limit): string => {
    const value = key?.[limit];
    return Array.isArray(value) ? value.join(', ') : String(value ?? '');
  };
  return Object.fromEntries(LIMIT_NAMES.map((limit) => [limit, text(limit)])) as Record<Limit, string>;
}

/** The limits to send. Those of a key that is edited are the ones that changed; `null` takes a limit away. */
function limitsOf(limits: TypedLimits, edited: ApiKey | undefined): object {
  const before = typedLimits(edited);
  return Object.fromEntries(
    LIMIT_NAMES.filter((limit) => limits[limit].trim() !== before[limit]).map((limit) => [
      limit,
      limitValue(limit, limits[limit].trim()),
    ]),
  );
}

function limitValue(limit: Limit, text: string): unknown {
  if (text === '') return null;
  if (kindOf(limit) === 'text') return text;
  return isList(limit) ? namesIn(text) : Number(text);
}

function expiryOf(expiry: string, now: number): object {
  if (expiry === 'keep') return {};
  return expiry === 'never' ? { clear_expiration: true } : { expires_at: inDays(expiry, now) };
}

import { type SyntheticEvent, useState } from 'react';
import { messageOf } from '../../api/api-error.ts';
import type { Account } from '../../api/answers.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogBody, SubmitActions, useAction } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/form.tsx';
import { Banner } from '../../ui/states.tsx';
import { TimeAgo } from '../../ui/time.tsx';
import { amountText, unitOf, windowText } from './account-text.ts';

const HOUR_MS = 3_600_000;
const LENGTHS: readonly (readonly [hours: string, label: string])[] = [
  ['1', 'One hour'],
  ['24', 'One day'],
  ['168', 'Seven days'],
  ['720', '30 days'],
];

export interface RaiseFormProps {
  readonly account: Account;
  readonly onRaise: (body: object) => Promise<void>;
  readonly onEnd: (id: string) => Promise<void>;
  readonly onClose: () => void;
}

/** Gives one of the budgets more room for a time; what was given before can be ended. */
export function RaiseForm({ account, onRaise, onEnd, onClose }: RaiseFormProps) {
  const api = useApi();
  const { path, budgets = [], raises } = account;
  const [at, setAt] = useState('0');
  const [amount, setAmount] = useState('');
  const [hours, setHours] = useState('24');
  const [note, setNote] = useState('');
  const [hasTried, setTried] = useState(false);
  const problem = Number(amount) > 0 && Number.isFinite(Number(amount)) ? undefined : 'An amount is a number above 0.';
  const budget = budgets[Number(at)];
  const { run, isBusy, error } = useAction(async () => {
    if (!budget) return;
    await onRaise({
      unit: unitOf(budget),
      every: ruleOf(budget.state?.name, budget.every),
      amount: Number(amount),
      until: new Date(api.now() + Number(hours) * HOUR_MS).toISOString(),
      ...(note.trim() !== '' && { note: note.trim() }),
    });
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    setTried(true);
    if (problem === undefined) run();
  };
  return (
    <Dialog title={`Raise budgets of ${path}`} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <DialogBody>
          {raises.length > 0 && <Raises of={account} onEnd={onEnd} />}
          <SelectField label="Budget" value={at} onChange={(event) => setAt(event.target.value)}>
            {budgets.map((each, place) => (
              <option key={each.state?.name ?? JSON.stringify(each)} value={place}>
                {amountText(unitOf(each), Number(each[unitOf(each)]))} {windowText(each.every)}
              </option>
            ))}
          </SelectField>
          <TextField
            label="More"
            hint="In the unit of the budget."
            value={amount}
            error={hasTried ? problem : undefined}
            inputMode="decimal"
            autoComplete="off"
            onChange={(event) => setAmount(event.target.value)}
          />
          <SelectField label="For" value={hours} onChange={(event) => setHours(event.target.value)}>
            {LENGTHS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Note"
            hint="Why it is raised."
            value={note}
            autoComplete="off"
            onChange={(event) => setNote(event.target.value)}
          />
          {error !== undefined && <Banner tone="bad">{messageOf(error)}</Banner>}
        </DialogBody>
        <SubmitActions action="Raise" isBusy={isBusy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** The rule as it stands in the name of the sum: two budgets may have the same `every`. */
const ruleOf = (name: string | undefined, every = 'total'): string => name?.split('|')[2] ?? every;

function Raises({ of: { raises }, onEnd }: { readonly of: Account; readonly onEnd: (id: string) => Promise<void> }) {
  const [ending, setEnding] = useState('');
  const { run, isBusy, error } = useAction(() => onEnd(ending));
  return (
    <>
      <ul className="account-raises" aria-label="Raises">
        {raises.map(({ id, unit, amount, until, note }) => (
          <li key={id}>
            <span>
              {amountText(unit, amount)} more, ends <TimeAgo at={until} />
              {note === undefined ? '' : `: ${note}`}
            </span>
            {ending === id ? (
              <Button size="small" tone="danger" isBusy={isBusy} onClick={run}>
                End it now
              </Button>
            ) : (
              <Button size="small" onClick={() => setEnding(id)}>
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
      {error !== undefined && <Banner tone="bad">{messageOf(error)}</Banner>}
    </>
  );
}

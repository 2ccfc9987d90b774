import { Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '../ui/button.tsx';
import { SelectField, TextField } from '../ui/form.tsx';
import './budgets.css';
import { budgetProblem, MOST_BUDGETS, NEW_BUDGET, type TypedBudget, type Unit, UNITS } from './budget-text.ts';

export interface BudgetFieldsProps {
  readonly budgets: readonly TypedBudget[];
  /** Whether what is wrong is shown. */
  readonly showsProblems: boolean;
  readonly onChange: (budgets: readonly TypedBudget[]) => void;
}

/** The budgets of a key, an account or a tag that begin again: all of them grant a request. */
export function BudgetFields({ budgets, showsProblems, onChange }: BudgetFieldsProps) {
  const set = (at: number, changed: Partial<TypedBudget>): void =>
    onChange(budgets.map((budget, place) => (place === at ? { ...budget, ...changed } : budget)));
  return (
    <fieldset className="field budget-list">
      <legend className="field-label budget-legend">Budgets</legend>
      <p className="field-hint">Each begins again by itself. All of them must have something left.</p>
      {budgets.map((budget, at) => (
        // the place is what tells two budgets apart
        // oxlint-disable-next-line react/no-array-index-key
        <div key={at} className="budget-line" role="group" aria-label={`Budget ${at + 1}`}>
          <TextField
            label="Limit"
            value={budget.amount}
            inputMode="decimal"
            autoComplete="off"
            error={showsProblems ? budgetProblem(budget) : undefined}
            onChange={(event) => set(at, { amount: event.target.value })}
          />
          <SelectField
            label="Unit"
            value={budget.unit}
            onChange={(event) => set(at, { unit: event.target.value as Unit })}
          >
            {UNITS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </SelectField>
          <TextField
            label="Every"
            value={budget.every}
            list="budget-windows"
            autoComplete="off"
            onChange={(event) => set(at, { every: event.target.value })}
          />
          <IconButton
            icon={Trash2}
            label={`Remove budget ${at + 1}`}
            onClick={() => onChange(budgets.filter((_budget, place) => place !== at))}
          />
        </div>
      ))}
      <datalist id="budget-windows">
        {['day', 'week', 'month', 'total', '5h'].map((window) => (
          <option key={window} value={window} />
        ))}
      </datalist>
      {budgets.length < MOST_BUDGETS && (
        <Button size="small" icon={Plus} onClick={() => onChange([...budgets, NEW_BUDGET])}>
          Add budget
        </Button>
      )}
    </fieldset>
  );
}

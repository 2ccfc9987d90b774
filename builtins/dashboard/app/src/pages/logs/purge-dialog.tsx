import { useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { count } from '../../lib/format.ts';
import { dayBefore, dayText, midnightOf } from '../../lib/days.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { Checkbox, TextField } from '../../ui/form.tsx';
import { Banner } from '../../ui/states.tsx';
import type { LogFilters } from './log-filters.ts';

const DAYS = 30;

/** Deletes rows before a day, which begins at midnight where the reader is. */
export function PurgeDialog({ filters, onClose }: { readonly filters: LogFilters; readonly onClose: () => void }) {
  const api = useApi();
  const queries = useQueryClient();
  const [today] = useState(() => dayText(new Date()));
  const [day, setDay] = useState(() => dayBefore(new Date(), DAYS));
  const [isScoped, setScoped] = useState(false);
  const [deleted, setDeleted] = useState<number>();
  const scope = scopeOf(filters);
  const before = midnightOf(day);
  const isFuture = day > today;
  const purge = async (): Promise<void> => {
    if (before === undefined) return;
    const query = new URLSearchParams({ before, ...(isScoped ? Object.fromEntries(scope) : {}) });
    const answer = await api.json<{ readonly deleted: number }>(`/admin/logs?${query}`, { method: 'DELETE' });
    setDeleted(answer.deleted);
    await queries.invalidateQueries({ queryKey: ['logs'] });
  };
  if (deleted !== undefined) {
    return (
      <Dialog title="Rows deleted" onClose={onClose}>
        <DialogBody>
          <Banner tone="ok">{count(deleted, 'row')} deleted.</Banner>
        </DialogBody>
        <DialogActions>
          <Button tone="primary" onClick={onClose}>
            Close
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      title="Purge request logs"
      action="Delete rows"
      isDangerous
      isDisabled={before === undefined || isFuture}
      onConfirm={purge}
      onClose={onClose}
    >
      <p>Rows from before this day are deleted for good, those of all stages. The audit trail notes it.</p>
      <TextField
        label="Delete rows from before"
        type="date"
        value={day}
        max={today}
        error={isFuture ? 'The day lies in the future.' : undefined}
        onChange={(event) => setDay(event.target.value)}
      />
      {scope.length > 0 && (
        <Checkbox
          label={<>Only rows of {scope.map(([name, value]) => `${name} “${value}”`).join(', ')}</>}
          hint="The filters of the page; its key, window and search do not count here."
          checked={isScoped}
          onChange={(event) => setScoped(event.target.checked)}
        />
      )}
    </ConfirmDialog>
  );
}

/** Filters of the page that the gateway can delete by. */
function scopeOf({ provider, model, stage }: LogFilters): readonly (readonly [string, string])[] {
  return (
    [
      ['provider', provider],
      ['model', model],
      ['stage', stage === 'all' ? '' : stage],
    ] as const
  ).filter(([, value]) => value !== '');
}

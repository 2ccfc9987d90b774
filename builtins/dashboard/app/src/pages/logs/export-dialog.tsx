import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions, DialogBody } from '../../ui/dialog.tsx';
import { DownloadButton } from '../../ui/download-button.tsx';
import { exportQuery, type LogFilters } from './log-filters.ts';

/** What the filters leave as a file. */
export function ExportDialog({ filters, onClose }: { readonly filters: LogFilters; readonly onClose: () => void }) {
  const api = useApi();
  const path = (format: 'csv' | 'jsonl') => (): string =>
    `/admin/logs/export?${exportQuery(filters, format, api.now())}`;
  return (
    <Dialog title="Export requests" onClose={onClose}>
      <DialogBody>
        <p>All requests that fit the filters are written, the newest 100,000 at most.</p>
        <p>
          For more use <code>gw admin logs export --max-rows</code>. The audit trail notes an export.
        </p>
      </DialogBody>
      <DialogActions>
        <DownloadButton path={path('csv')} name="requests.csv">
          CSV
        </DownloadButton>
        <DownloadButton path={path('jsonl')} name="requests.jsonl">
          JSONL
        </DownloadButton>
        <Button onClick={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  );
}

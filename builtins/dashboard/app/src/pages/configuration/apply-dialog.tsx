import { useState } from 'react';
import { usePolled } from '../../api/polling.ts';
import type { ConfigChange } from '../../api/admin-wire.ts';
import { placeOf, type Sending } from '../../lib/config-sending.ts';
import { rowsIn } from '../../lib/fields.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions, DialogBody, useAction } from '../../ui/dialog.tsx';
import { Banner, Loaded } from '../../ui/states.tsx';
import { isOutdated, messageOf } from '../../api/api-error.ts';

export interface ApplyDialogProps {
  /** The configuration as it is sent. */
  readonly sending: Sending;
  /** The version that it was made of. */
  readonly etag: string | null;
  readonly onApplied: () => void;
  /** Reads the newest configuration and holds the text against it. */
  readonly onOutdated: () => Promise<void>;
  readonly onClose: () => void;
}

/** Shows what would change, and changes it. */
export function ApplyDialog({ sending, etag, onApplied, onOutdated, onClose }: ApplyDialogProps) {
  const api = useApi();
  const { written, headers } = sending;
  const [asked] = useState(() => Date.now());
  const reading = usePolled<{ readonly changes: readonly ConfigChange[] }>({
    key: ['config', 'diff', asked],
    read: (signal) => api.json('/admin/config/diff', { method: 'POST', written, headers, signal }),
  });
  const { run, isBusy, error } = useAction(async () => {
    const { path, method } = placeOf(sending);
    await api.json(path, { method, written, headers: { ...headers, ...(etag === null ? {} : { 'If-Match': etag }) } });
    onApplied();
  });
  const compare = useAction(onOutdated);
  const failure = compare.error ?? error;
  const changes = rowsIn(reading.data?.changes);
  return (
    <Dialog title="Apply this configuration?" isWide onClose={onClose}>
      <DialogBody>
        <Loaded reading={reading} what="Changes">
          {() => (changes.length === 0 ? <p>Nothing would change.</p> : <ChangeList changes={changes} />)}
        </Loaded>
        {failure !== undefined && <Banner tone="bad">{messageOf(failure)}</Banner>}
      </DialogBody>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        {isOutdated(error) ? (
          <Button tone="primary" isBusy={compare.isBusy} onClick={compare.run}>
            Compare with the newest version
          </Button>
        ) : (
          <Button tone="primary" isBusy={isBusy} disabled={changes.length === 0} onClick={run}>
            Apply changes
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}

function ChangeList({ changes }: { readonly changes: readonly ConfigChange[] }) {
  return (
    <ul className="changes">
      {changes.map(({ path, before, after }) => (
        <li key={path} className="change">
          <p className="mono break">
            <strong>{path}</strong>
          </p>
          <div className="change-sides">
            <Side label="Before" value={before} tone="removed" />
            <Side label="After" value={after} tone="added" />
          </div>
        </li>
      ))}
    </ul>
  );
}

function Side({
  label,
  value,
  tone,
}: {
  readonly label: string;
  readonly value: unknown;
  readonly tone: 'removed' | 'added';
}) {
  return (
    <div className="change-side" data-kind={tone}>
      <p className="change-label">{label}</p>
      <pre className="change-text">{value === null ? 'not set' : JSON.stringify(value, undefined, 2)}</pre>
    </div>
  );
}

import { useState } from 'react';
import { Download } from 'lucide-react';
import { messageOf } from '../../api/api-error.ts';
import { useApi } from '../../services.ts';
import { Button } from '../../ui/button.tsx';
import { Banner } from '../../ui/states.tsx';

/** Files of a report: they are asked for with the session, and given to the browser to keep. */
export function Downloads({ csv, focus }: { readonly csv: () => string; readonly focus: () => string }) {
  const api = useApi();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState('');
  const save = (path: string, name: string): void => {
    setBusy(name);
    setError(undefined);
    api
      .open(path, { hasNoDeadline: true })
      .then(async (response) => keep(await response.blob(), name))
      .catch(setError)
      .finally(() => setBusy(''));
  };
  return (
    <>
      <Button icon={Download} isBusy={busy === 'spend.csv'} onClick={() => save(csv(), 'spend.csv')}>
        CSV
      </Button>
      <Button icon={Download} isBusy={busy === 'focus.csv'} onClick={() => save(focus(), 'focus.csv')}>
        FOCUS
      </Button>
      {error !== undefined && <Banner tone="bad">The file could not be loaded: {messageOf(error)}</Banner>}
    </>
  );
}

function keep(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

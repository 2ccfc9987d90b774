import { type ReactNode, useState } from 'react';
import { Download } from 'lucide-react';
import { messageOf } from '../api/api-error.ts';
import { useApi } from '../services.ts';
import { Button } from './button.tsx';
import { Banner } from './states.tsx';

interface DownloadProps {
  /** Where the file comes from, as it is asked for when the button is pressed. */
  readonly path: () => string;
  readonly name: string;
  readonly children: ReactNode;
}

/** A file of the gateway: it is asked for with the session, and given to the browser to keep. */
export function DownloadButton({ path, name, children }: DownloadProps) {
  const api = useApi();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const save = (): void => {
    setBusy(true);
    setError(undefined);
    api
      .open(path(), { hasNoDeadline: true })
      .then(async (response) => keep(await response.blob(), name))
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return (
    <>
      <Button icon={Download} isBusy={isBusy} onClick={save}>
        {children}
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

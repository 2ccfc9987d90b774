import { DownloadButton } from '../../ui/download-button.tsx';

/** Files of a report. */
export function Downloads({ csv, focus }: { readonly csv: () => string; readonly focus: () => string }) {
  return (
    <>
      <DownloadButton path={csv} name="spend.csv">
        CSV
      </DownloadButton>
      <DownloadButton path={focus} name="focus.csv">
        FOCUS
      </DownloadButton>
    </>
  );
}

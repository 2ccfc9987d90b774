import { resolve } from 'node:path';
import { errorMessage } from '../../host/common/error-message.ts';
import type { Finding } from '../../host/host-hooks.ts';
import type { Host } from '../../host/host.ts';
import { shownAddress } from './address.ts';
import { loadCatalog, readBundle, readOverlay } from './load.ts';
import { readCatalogSettings } from './settings.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Prices and models change within months. */
const OLD_DAYS = 120;

/** How old the newest entry of the catalog is, and what an operator added to it. Nothing is fetched. */
export async function examineCatalog({
  variables,
  workingDirectory,
  services: { clock },
}: Pick<Host, 'variables' | 'workingDirectory' | 'services'>): Promise<readonly Finding[]> {
  const settings = readCatalogSettings(variables);
  const { entries } = loadCatalog(await readBundle(), undefined);
  const newest = [...entries.values()].reduce((latest, { updated_at: at }) => (at > latest ? at : latest), '');
  const days = Math.floor((clock.now() - Date.parse(newest)) / DAY_MS);
  const isOld = days > OLD_DAYS && settings.url === undefined;
  return [
    {
      level: isOld ? 'warning' : 'good',
      text: `${entries.size} models, the newest entry is of ${newest}, ${days} ${days === 1 ? 'day' : 'days'} ago${isOld ? '; set GW_MODEL_CATALOG_URL, or install a newer gw' : ''}`,
    },
    ...(settings.url === undefined
      ? []
      : [{ level: 'good', text: `a running gateway fetches ${shownAddress(settings.url)} every day` } as const]),
    ...settings.warnings.map((text) => ({ level: 'warning', text }) as const),
    ...(await examineOverlay(
      settings.overlayPath === undefined ? undefined : resolve(workingDirectory, settings.overlayPath),
    )),
  ];
}

async function examineOverlay(path: string | undefined): Promise<Finding[]> {
  if (path === undefined) return [];
  try {
    await readOverlay(path);
    return [{ level: 'good', text: `GW_MODEL_CATALOG_OVERLAY: ${path}` }];
  } catch (error) {
    return [{ level: 'bad', text: `GW_MODEL_CATALOG_OVERLAY: ${path}: ${errorMessage(error)}` }];
  }
}

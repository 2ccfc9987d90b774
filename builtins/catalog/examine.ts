import { resolve } from 'node:path';
import { errorMessage } from '../../host/common/error-message.ts';
import type { Finding } from '../../host/host-hooks.ts';
import type { Host } from '../../host/host.ts';
import { shownAddress } from './address.ts';
import { loadCatalog, readBundle, readOverlay, readShippedRules } from './load.ts';
import { readRules } from './read-rules.ts';
import { problemsOf } from './rule-layers.ts';
import { type CatalogSettings, readCatalogSettings } from './settings.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Prices, models and what they take change within months. */
const OLD_DAYS = 120;

/** How old the newest entry of the catalog and the newest rule are, and what an operator added to them. Nothing is fetched. */
export async function examineCatalog({
  variables,
  workingDirectory,
  services: { clock },
}: Pick<Host, 'variables' | 'workingDirectory' | 'services'>): Promise<readonly Finding[]> {
  const settings = readCatalogSettings(variables);
  const { entries } = loadCatalog(await readBundle(), undefined);
  const newest = [...entries.values()].reduce((latest, { updated_at: at }) => (at > latest ? at : latest), '');
  const days = daysSince(newest, clock.now());
  const isOld = days > OLD_DAYS && settings.url === undefined;
  return [
    {
      level: isOld ? 'warning' : 'good',
      text: `${entries.size} models, the newest entry is of ${newest}, ${ago(days)}${isOld ? '; set GW_MODEL_CATALOG_URL, or install a newer gw' : ''}`,
    },
    ...(settings.url === undefined
      ? []
      : [{ level: 'good', text: `a running gateway fetches ${shownAddress(settings.url)} every day` } as const]),
    ...settings.warnings.map((text) => ({ level: 'warning', text }) as const),
    ...(await examineFile('GW_MODEL_CATALOG_OVERLAY', settings.overlayPath, workingDirectory, () => [])),
    await examineRules(clock.now(), settings),
    ...(settings.rulesUrl === undefined
      ? []
      : [{ level: 'good', text: `a running gateway fetches ${shownAddress(settings.rulesUrl)} every day` } as const]),
    ...(await examineFile('GW_MODEL_RULES_OVERLAY', settings.rulesPath, workingDirectory, (document) =>
      problemsOf(readRules(document)),
    )),
  ];
}

const daysSince = (day: string, now: number): number => Math.floor((now - Date.parse(day)) / DAY_MS);
const ago = (days: number): string => `${days} ${days === 1 ? 'day' : 'days'} ago`;

async function examineRules(now: number, { rulesUrl }: CatalogSettings): Promise<Finding> {
  const { rules } = await readShippedRules();
  const newest = rules.reduce((latest, { checked }) => (checked > latest ? checked : latest), '');
  const days = daysSince(newest, now);
  const isOld = days > OLD_DAYS && rulesUrl === undefined;
  return {
    level: isOld ? 'warning' : 'good',
    text: `${rules.length} rules of models, the newest was checked on ${newest}, ${ago(days)}${isOld ? '; set GW_MODEL_RULES_URL, or install a newer gw' : ''}`,
  };
}

/** A file of the operator's: that it can be read, and what of it is not used. */
async function examineFile(
  variable: string,
  named: string | undefined,
  workingDirectory: string,
  problemsIn: (document: unknown) => readonly string[],
): Promise<Finding[]> {
  if (named === undefined) return [];
  const path = resolve(workingDirectory, named);
  try {
    const problems = problemsIn(await readOverlay(path));
    return [
      { level: 'good', text: `${variable}: ${path}` },
      ...problems.map((text) => ({ level: 'warning', text }) as const),
    ];
  } catch (error) {
    return [{ level: 'bad', text: `${variable}: ${path}: ${errorMessage(error)}` }];
  }
}

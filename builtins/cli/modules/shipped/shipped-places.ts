import { parseJson } from '../../../../host/contract/index.ts';
import type { ShippedProvider } from './provider-names.ts';
import { FAULTS, rootOf } from './shipped-files.ts';
import { membersOf, type SortedRows, tableUnder } from './sorted-rows.ts';

/** A place of a file that lists providers, and needs one more. */
export interface Place {
  readonly file: string;
  /** What is missing where it is not there: "row of the table …". */
  readonly what: string;
  /** The providers that stand there. */
  readonly names: (text: string) => readonly string[];
  readonly added: (text: string, provider: ShippedProvider) => string;
}

const VARIABLE_ROW = /^\| `[A-Z][A-Z0-9_]*` \| `([a-z0-9-]+)` \|/;

/** Every place that lists the shipped providers, in the order in which one is added to them. */
export const PLACES: readonly Place[] = [
  { file: 'builtins/manifest.ts', what: 'import and line in MODULES', names: imported, added: inManifest },
  {
    file: 'docs/providers.md',
    what: 'row of the table "Providers"',
    ...rows(
      tableUnder('## Providers'),
      ({ name, prefix }) =>
        `| \`${name}\` | \`${prefix}_API_KEY\` | \`${rootOf(name)}\`, or \`${prefix}_BASE_URL\` | \`common\` | \`chat\` | pass-through, responses |`,
    ),
  },
  {
    file: 'docs/providers.md',
    what: 'row of the table "Fields of chat"',
    ...rows(tableUnder('## Fields of chat'), ({ name }) => `| \`${name}\` | \`web_search_options\` | | |`),
  },
  {
    file: 'docs/configuration.md',
    what: 'row of the table "Provider credentials"',
    ...rows(
      tableUnder('### Provider credentials', VARIABLE_ROW),
      ({ name, prefix }) => `| \`${prefix}_API_KEY\` | \`${name}\` |`,
    ),
  },
  {
    file: 'test/contract/providers/facts.ts',
    what: 'facts in ROWS',
    ...rows(
      membersOf(/^const ROWS\b/),
      ({ name, key, model }) => `  ${key}: {
    root: '${rootOf(name)}',
    surfaces: { chat: ['${model}'] },
    errors: ['${FAULTS[401]}', '${FAULTS[404]}'],
  },`,
    ),
  },
  {
    file: 'test/fixtures/sources.json',
    what: 'source of its golden files',
    ...inJson({ suffix: '/chat' }, ({ name, day }) => ({
      source: `gw module new provider ${name} --shipped: the common wire, until recorded answers of the service stand here`,
      read: day,
    })),
  },
  {
    file: 'test/fixtures/capability-matrix.json',
    what: 'parameters of chat in "providers"',
    ...inJson({ within: 'providers' }, (_, { params }) =>
      Object.fromEntries((params as readonly string[]).map((param) => [param, 'forward'])),
    ),
  },
  {
    file: 'test/fixtures/capability-matrix.json',
    what: 'what it serves, in "surfaces"',
    ...inJson({ within: 'surfaces' }, () => ['chat', 'stream', 'responses', 'proxy']),
  },
  {
    file: 'test/e2e/support/vendors/vendors.ts',
    what: 'vendor in VENDORS',
    ...rows(
      membersOf(/^export const VENDORS\b/),
      ({ key, model }) => `  ${key}: {
    root: '/v1',
    surfaces: { chat: { model: '${model}', dialect: chat() } },
  },`,
    ),
  },
  {
    file: 'test/kit/strict/vendors.ts',
    what: 'dialect in VENDORS',
    ...rows(membersOf(/^export const VENDORS\b/), ({ key }) => `  ${key}: {},`),
  },
  {
    file: 'test/catalog/providers-without-rows.ts',
    what: 'reason in WITHOUT_ROWS, or rows in builtins/catalog/curated.json',
    ...rows(
      membersOf(/^export const WITHOUT_ROWS\b/),
      ({ key }) => `  ${key}: 'its models and prices are not known yet',`,
    ),
  },
];

type Added = Pick<Place, 'names' | 'added'>;

function rows({ names, withRow }: SortedRows, row: (provider: ShippedProvider) => string): Added {
  return { names, added: (text, provider) => withRow(text, provider.name, row(provider)) };
}

type Members = Readonly<Record<string, unknown>>;

/** A member of an object of a JSON file, whose members are sorted; its name is the provider's, and a suffix. `within` names the object, unless it is the whole. */
function inJson(
  { within, suffix = '' }: { readonly within?: string; readonly suffix?: string },
  value: (provider: ShippedProvider, all: Members) => unknown,
): Added {
  const membersIn = (all: Members): Members => (within === undefined ? all : (all[within] as Members));
  return {
    names: (text) =>
      Object.keys(membersIn(parseJson(text) as Members))
        .filter((key) => key.endsWith(suffix))
        .map((key) => key.slice(0, key.length - suffix.length)),
    added(text, provider) {
      const all = parseJson(text) as Members;
      const more = { ...membersIn(all), [provider.name + suffix]: value(provider, all) };
      const sorted = Object.fromEntries(Object.entries(more).toSorted(([a], [b]) => (a < b ? -1 : 1)));
      return `${JSON.stringify(within === undefined ? sorted : { ...all, [within]: sorted }, undefined, 1)}\n`;
    },
  };
}

const IMPORT = /^import (\w+) from '\.\.\/providers\/([a-z0-9-]+)\/index\.ts';$/;

/** A provider that is imported and not listed does not stand there. */
function imported(text: string): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line) => {
    const [, identifier, name = ''] = IMPORT.exec(line) ?? [];
    return identifier !== undefined && lines.includes(`  ${identifier},`) ? [name] : [];
  });
}

/** The import in the order of paths, and the line before that of the module whose import follows. */
function inManifest(text: string, { name, identifier }: ShippedProvider): string {
  const lines = text.split('\n');
  const isLater = (line: string): boolean => `${IMPORT.exec(line)?.[2] ?? ''}/` > `${name}/`;
  const later = lines.findIndex(isLater);
  const at = later < 0 ? lines.findLastIndex((line) => IMPORT.test(line)) + 1 : later;
  const next = lines
    .slice(at)
    .map((line) => /^import (\w+) from/.exec(line)?.[1])
    .find((each) => each !== undefined);
  const withImport = lines.toSpliced(at, 0, `import ${identifier} from '../providers/${name}/index.ts';`);
  const line = withImport.lastIndexOf(`  ${next ?? ''},`);
  if (at === 0 || line < 0) throw new Error('the manifest has another shape than this command knows');
  return withImport.toSpliced(line, 0, `  ${identifier},`).join('\n');
}

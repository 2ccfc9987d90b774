import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect } from 'chai';
import { ROOT } from '../cli/commands.ts';
import { temporaryFolder } from '../kit/index.ts';

const HEAD = `import type { BlockOf, TypeOf } from '${ROOT}/host/config/schema/schema-fields.ts';
import { always, block, decimal, entry, flag, integer, integerItem, list, nullableFreeMap, text, textItem, textMap } from '${ROOT}/host/config/schema/schema-fields.ts';
import type { GatewayConfig } from '${ROOT}/host/config/document.ts';
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare const config: GatewayConfig;
export const used = [config, always, block, decimal, entry, flag, integer, integerItem, list, nullableFreeMap, text, textItem, textMap];
export type Used = [BlockOf<{}>, TypeOf<typeof textItem>];
`;

/** Sources with the mistake that must not compile, by what it is. */
const WRONG = {
  'a key that is read and is not in the schema': `export const read = config.max_request_byte;`,
  'such a key in a block': `export const read = config.responses.bind_owners;`,
  'such a key in a block of an entry of a list': `export const read = config.targets[0]?.retry?.attempt;`,
  'a key that is written and is not in the schema': `export const written: GatewayConfig['files'] = { bind_owner: true, quota: 1 };`,
  'a key of another type': `export const read: number | undefined = config.request_timeout;`,
  'a key of another type in an entry of a list': `export const read: string | undefined = config.targets[0]?.weight;`,
  'an item of a list of another type': `export const read: readonly string[] | undefined = config.targets[0]?.retry_on_status;`,
  'a value of a map of another type': `export const read: number | undefined = config.aliases['a'];`,
  'a key that may be missing, read as if it were there': `export const read: number = config.max_request_bytes;`,
  'a list that may be missing, read as if it were there': `export const read: readonly string[] = config.strategy.failover_on;`,
  'a key that is always there, left out of a document': `export const written: GatewayConfig['targets'][number] = {};`,
  'a change of a configuration': `config.responses.bind_owner = true;`,
  'a default of another type': `always(integer('a number'), 'text');`,
  'a default in words of another type': `integer('a number', { otherwise: 'five' });`,
  'a field without a meaning': `integer();`,
  'a field that may hold anything, used as a text': `import Joi from 'joi';
export const held = (document: BlockOf<{ open: Joi.AnySchema }>): string => document.open;`,
} as const;

/** What must compile: the type that the helpers derive is exactly this one, nested and optional as it is. */
const RIGHT = `const keys = {
  name: always(text('its name'), ''),
  count: integer('how many'),
  isOn: flag('whether'),
  limits: block('its limits', { most: decimal('at most'), words: list('words', textItem) }),
  entries: always(list('entries', entry({ codes: list('codes', integerItem) })), []),
  labels: textMap('labels'),
  more: always(nullableFreeMap('more'), null),
};
interface Expected {
  readonly name: string;
  readonly count?: number;
  readonly isOn?: boolean;
  readonly limits?: { readonly most?: number; readonly words?: readonly string[] };
  readonly entries: readonly { readonly codes?: readonly number[] }[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly more: Readonly<Record<string, unknown>> | null;
}
declare const derived: BlockOf<typeof keys>;
export const forth: Expected = derived;
declare const expected: Expected;
export const back: BlockOf<typeof keys> = expected;
export const sameKeys: Same<keyof BlockOf<typeof keys>, keyof Expected> = true;
export const sameLimits: Same<keyof NonNullable<BlockOf<typeof keys>['limits']>, 'most' | 'words'> = true;
`;

/** The names of the files in which the compiler finds something, of these sources and no other file. */
async function filesWithErrors(
  sources: Readonly<Record<string, string>>,
): Promise<{ files: string[]; output: string }> {
  const folder = await temporaryFolder();
  await Promise.all(Object.entries(sources).map(([name, source]) => writeFile(join(folder, name), HEAD + source)));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        types: ['node'],
        typeRoots: [join(ROOT, 'node_modules/@types')],
        paths: { joi: [join(ROOT, 'node_modules/joi')] },
      },
      files: Object.keys(sources),
      include: [],
    }),
  );
  const compiler = spawn(process.execPath, [
    join(ROOT, 'node_modules/typescript/bin/tsc'),
    '-p',
    folder,
    '--pretty',
    'false',
  ]);
  const [output] = await Promise.all([textOf(compiler.stdout), once(compiler, 'close')]);
  const found = output.match(/^(?! )[^(\n]+(?=\(\d+,\d+\): error)/gm) ?? [];
  return { files: [...new Set(found.map((file) => file.split('/').at(-1) ?? ''))].sort(), output };
}

describe('the type of a configuration', () => {
  it('is that of its schema: no key more, none less, each of its type', async () => {
    const wrong = Object.entries(WRONG).map(([, source], at) => [`wrong-${String(at).padStart(2, '0')}.ts`, source]);
    const { files, output } = await filesWithErrors({ ...Object.fromEntries(wrong), 'right.ts': RIGHT });
    expect(files, `${Object.keys(WRONG).join('\n')}\n${output}`).to.deep.equal(wrong.map(([name]) => name));
  });
});

import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { forSuite, startHost, type TestHost } from '../kit/index.ts';
import { some } from '../kit/random.ts';

/** A literal in the form of a vendor's key; of no vendor. */
const KEY = 'sk-proj-Pasted0123456789abcdefABCDEF0123456789';

const PASTED = [KEY, `https://${KEY}.example`, `Bearer ${KEY}`, `\${file:/x/${KEY}}`, `\${${KEY}}`, { [KEY]: KEY }];

type Step = string | number;

/** The path of every text of a document. */
function* texts(value: unknown, path: readonly Step[] = []): Generator<readonly Step[]> {
  if (typeof value === 'string') yield path;
  else if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value))
      yield* texts(each, [...path, Array.isArray(value) ? Number(key) : key]);
}

/** The document with another value at a path. */
function withAt(value: unknown, [step, ...rest]: readonly Step[], put: unknown): unknown {
  if (step === undefined) return put;
  if (Array.isArray(value)) return value.map((each, at) => (at === step ? withAt(each, rest, put) : each));
  const fields = value as Record<string, unknown>;
  return { ...fields, [step]: withAt(fields[step], rest, put) };
}

const document: unknown = parse(await readFile(new URL('../../config.example.yaml', import.meta.url), 'utf8'));

describe('a key that is pasted where the configuration has another text', () => {
  const t = forSuite<TestHost>(() => startHost({ targets: [{ virtual_key: 'echo' }] }));

  for (const path of some([...texts(document)], { every: 5 }))
    it(`is not said again: ${path.join('.')}`, async () => {
      for (const put of PASTED) {
        const answer = await t().post('/admin/config/validate', withAt(document, path, put));
        expect(answer.text, JSON.stringify(put)).not.to.include(KEY);
      }
      expect(t().texts.join('\n')).not.to.include(KEY);
    });
});

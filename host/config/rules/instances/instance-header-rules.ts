import { parseHeaderReference } from '../../references.ts';
import { isSecretHeader } from '../../secrets/secret-headers.ts';
import type { ConfigRule } from '../rule.ts';
import { type Declared, declaredIn, holdersIn, secretsIn } from './declared-instances.ts';
import { REFERENCE_FIX } from './instance-secret-rules.ts';
import { isKeptHeader } from './kept-headers.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const LONGEST_NAME = 256;
const LONGEST_VALUE = 4096;

const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']);

interface Fault {
  readonly message: string;
  readonly fix: string;
}

function nameFault(name: string, isRepeated: boolean): Fault | undefined {
  if (!TOKEN.test(name)) return { message: 'is not a name of a header', fix: 'use letters, digits and hyphens' };
  if (name.length > LONGEST_NAME)
    return { message: `has ${name.length} characters, the limit is ${LONGEST_NAME}`, fix: 'shorten it' };
  if (isKeptHeader(name)) return { message: 'is written by the gateway itself', fix: 'remove it' };
  return isRepeated ? { message: 'stands there twice', fix: 'keep one of the two' } : undefined;
}

/** Never quotes the value. */
function valueFault(name: string, value: string, looksSecret: (text: string) => boolean): Fault | undefined {
  if (value.length > LONGEST_VALUE)
    return { message: `has ${value.length} characters, the limit is ${LONGEST_VALUE}`, fix: 'shorten it' };
  if (parseHeaderReference(value)) return undefined;
  const fix = `${REFERENCE_FIX} but a scheme word as in "Bearer \${NAME}"`;
  if (value.includes('${')) return { message: 'has something around a reference', fix };
  if (isSecretHeader(name) || looksSecret(value)) return { message: 'must be a reference', fix };
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? undefined
    : { message: 'is not printable ASCII without blanks around', fix: 'write such a text' };
}

const hasSecrets = (declared: Declared): boolean => holdersIn(declared).some((holder) => secretsIn(holder).length > 0);

export const instanceHeaderRules: readonly ConfigRule[] = [
  {
    id: 'CV51',
    check: (config, { report }) => {
      for (const { name: instance, block, path } of declaredIn(config)) {
        const seen = new Set<string>();
        for (const name of Object.keys(block.headers ?? {})) {
          const found = nameFault(name, seen.has(name.toLowerCase()));
          seen.add(name.toLowerCase());
          if (found)
            report(
              `${path}.headers`,
              `the header "${name.slice(0, LONGEST_NAME)}" of "${instance}" ${found.message}`,
              found.fix,
            );
        }
      }
    },
  },
  {
    id: 'CV52',
    check: (config, { looksSecret, report }) => {
      for (const declared of declaredIn(config)) {
        const { name: instance, block, path } = declared;
        for (const [name, value] of Object.entries(block.headers ?? {})) {
          const at = TOKEN.test(name) && name.length <= LONGEST_NAME ? `${path}.headers.${name}` : `${path}.headers`;
          const found = valueFault(name, value, looksSecret);
          if (found) report(at, `the value of a header of "${instance}" ${found.message}`, found.fix);
          if (CREDENTIAL_HEADERS.has(name.toLowerCase()) && hasSecrets(declared))
            report(at, `"${instance}" has a credential, which writes this header`, 'remove the one or the other');
        }
      }
    },
  },
];

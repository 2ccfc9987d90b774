import { expect } from 'chai';
import type { ProviderModule } from '../../host/contract/index.ts';
import { faultInAnswer, faultInUseless, replyError } from '../../host/upstream/fault.ts';
import { PROVIDERS } from '../contract/hostile/wires.ts';
import { cases, Dice, expectProportion, isSoak } from '../kit/index.ts';
import { bodyText, FAULT_VECTORS } from './fault-vectors.ts';

const plain = { name: 'acme' } as ProviderModule;
const STATUSES = [400, 402, 403, 404, 413, 422, 429, 451, 500, 502, 503, 529];

function readAll(bytes: Buffer, modules: readonly ProviderModule[] = [plain]): void {
  for (const module of modules)
    for (const status of STATUSES) replyError(module, { status, headers: {}, body: bytes }, 0);
}

const repeat = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length)).slice(0, size);

/** Texts that come close to many patterns, again and again. */
const TEXTS: readonly string[] = [
  'maximum context length is 1',
  'maximum context length of aaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  'exceed context limit: 1 + ',
  'requested 1 output tokens and your prompt contains at least ',
  'try again in 1h1m1',
  'exceeded your current quota limit: 0.',
  'input length should be [1, ',
  '1',
  '`inputs` tokens ',
  'too large for model with 1',
  'content filter policy safety ',
];

/** Bodies of about a size, one for each way of being large. */
const BODIES: Readonly<Record<string, (size: number) => string>> = {
  ...Object.fromEntries(
    TEXTS.map((text) => [
      `a message of "${text}"`,
      (size: number) => JSON.stringify({ error: { message: repeat(text, size) } }),
    ]),
  ),
  'a list of details': (size) =>
    JSON.stringify({
      error: { message: 'm', details: Array.from({ length: size / 40 }, () => ({ reason: 'x', retryDelay: 'y' })) },
    }),
  'a list of messages': (size) =>
    JSON.stringify({ detail: Array.from({ length: size / 20 }, () => ({ msg: 'too long' })) }),
  'an error in a text, and in its text': (size) =>
    JSON.stringify({
      error: JSON.stringify({ error: { message: JSON.stringify({ error: repeat('prompt ', size / 3) }) } }),
    }),
  'blanks before an error in a text': (size) => JSON.stringify({ error: `${' '.repeat(size)}{` }),
  brackets: (size) => '['.repeat(size),
  'no JSON': (size) => `<html>${repeat('prompt is too lon', size)}`,
};

describe('the work of reading an error body', () => {
  for (const [what, make] of Object.entries(BODIES))
    it(`is in proportion to it: ${what}`, () =>
      expectProportion(
        4096,
        (size) => {
          const bytes = Buffer.from(make(size));
          return () => readAll(bytes);
        },
        131_072,
      ));
});

describe('an error body that is hard to read', () => {
  const messageOf = (body: Buffer | string, status = 400): string | undefined => {
    const error = replyError(plain, { status, headers: {}, body: Buffer.from(body) }, 0);
    return error.fault?.message;
  };
  const nested = (levels: number): unknown => (levels === 0 ? { message: 'inside' } : { error: nested(levels - 1) });

  it('says nothing', () => {
    const secret = 'not to be read';
    for (const body of [
      JSON.stringify({ error: { message: `${secret}${'x'.repeat(1024 * 1024)}` } }),
      JSON.stringify(nested(40)),
      Buffer.concat([Buffer.from('{"error":{"message":"'), Buffer.from([0xff, 0xfe]), Buffer.from(`${secret}"}}`)]),
      `<html><body>${secret}</body></html>`,
      '',
    ])
      expect(messageOf(body), String(body).slice(0, 60)).to.equal('Bad Request');
  });

  it('is read up to three errors deep, and up to 256 KiB', () => {
    expect(messageOf(JSON.stringify(nested(3)))).to.equal('inside');
    expect(messageOf(JSON.stringify({ error: 'x'.repeat(200 * 1024) }))).to.have.length(200 * 1024);
  });

  it('never makes the reader throw', function () {
    this.timeout(isSoak() ? 600_000 : 20_000);
    const modules = [plain, ...PROVIDERS.filter((module) => module.toFault !== undefined)];
    const seeds = FAULT_VECTORS.map(bodyText);
    for (let seed = 0; seed < cases(4000); seed += 1) {
      const dice = new Dice(seed);
      const bytes = Buffer.from(dice.pick(seeds));
      for (let edits = dice.below(6); edits >= 0; edits -= 1) edit(bytes, dice);
      const mixed = dice.below(4) === 0 ? Buffer.from(JSON.stringify(shuffled(dice, 4))) : bytes;
      const module = dice.pick(modules);
      replyError(module, { status: dice.pick(STATUSES), headers: {}, body: mixed }, 0);
      let value: unknown;
      try {
        value = JSON.parse(mixed.toString('utf8'));
      } catch {
        continue;
      }
      faultInAnswer(value);
      faultInUseless(value);
    }
  });
});

/** Another byte, a cut, or a piece twice. */
function edit(bytes: Buffer, dice: Dice): void {
  if (bytes.length === 0) return;
  const at = dice.below(bytes.length);
  if (dice.below(2) === 0) bytes[at] = dice.pick([0x7b, 0x5b, 0x22, 0x3a, 0x2c, 0x30, 0xff, 0x20]);
  else bytes.copyWithin(at, dice.below(bytes.length));
}

const NAMES = [
  'error',
  'errors',
  'message',
  'detail',
  'code',
  'type',
  'metadata',
  'raw',
  'details',
  'reason',
  'base_resp',
  'status_msg',
  'title',
  'msg',
  'innererror',
  'choices',
  'status',
  'retry_after',
];
const VALUES: readonly unknown[] = [
  null,
  0,
  429,
  '429',
  '',
  'x',
  true,
  [],
  {},
  1e300,
  '{"error":"y"}',
  '[{"message":"z"}]',
  'insufficient_quota',
];

/** Members that readers look at, in places where they do not belong. */
function shuffled(dice: Dice, depth: number): unknown {
  if (depth === 0 || dice.below(4) === 0) return dice.pick(VALUES);
  if (dice.below(4) === 0) return Array.from({ length: dice.below(3) }, () => shuffled(dice, depth - 1));
  return Object.fromEntries(
    Array.from({ length: 1 + dice.below(4) }, () => [dice.pick(NAMES), shuffled(dice, depth - 1)]),
  );
}

import { type CommandInput, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { useOneOf } from '../../../host/common/nearest.ts';
import { parseDuration } from '../../../host/contract/duration.ts';
import { KEY_LIMIT_LIST } from '../../../host/common/key-members.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { printData } from '../show.ts';

const SCOPES = ['read_only', 'admin'] as const;
const ACCESS = ['inference', 'full'] as const;

/** The last year that a timestamp of RFC 3339 can name. */
const LAST_YEAR = 9999;

/** `gw admin keys create`: the answer shows the key, once. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const body = keyBody(input.options, place.clock.now());
  const made = await new Client(input, place).object('POST', '/admin/keys', body);
  if (body.access === 'inference')
    io.err(
      'access' in made
        ? 'this key can only call models; --scope read_only makes one that reads the admin API\n'
        : 'this gateway is older: the key reads the admin API\n',
    );
  return printData(io, input.format, made);
};

/** Throws before anything is sent. A name that is missing is the gateway's to refuse. */
function keyBody(
  options: CommandInput['options'],
  now: number,
): { readonly access: string; readonly [member: string]: unknown } {
  const { name = '', scope = 'read_only', expiresIn = '' } = options;
  if (!SCOPES.some((one) => one === scope))
    throw new UsageError(`"${String(scope)}" is not a scope; ${useOneOf(String(scope), SCOPES)}`);
  const access = accessIn(options);
  const expiry = expiresIn === '' ? {} : { expires_at: momentIn(String(expiresIn), now) };
  return { name, scopes: [scope], access, ...expiry, ...inWindows(limitsIn(options), options['every']) };
}

/** A key can only call models, unless its scope is typed, or its access. */
function accessIn({ scope, access = scope === undefined ? 'inference' : 'full' }: CommandInput['options']): string {
  if (!ACCESS.some((one) => one === access))
    throw new UsageError(`"${String(access)}" is not an access; ${useOneOf(String(access), ACCESS)}`);
  if (access === 'inference' && scope === 'admin') throw new UsageError('a key for inference has no scope admin');
  return String(access);
}

type Limits = ReturnType<typeof limitsIn>;

/** With a window the dollars are a budget that begins again. The gateway says which windows there are. */
function inWindows({ budget_usd: usd, ...others }: Limits, every: CommandInput['options'][string]): Limits {
  if (every === undefined || every === '') return usd === undefined ? others : { ...others, budget_usd: usd };
  if (usd === undefined) throw new UsageError('--every is of no use without --budget-usd');
  return { ...others, budgets: [{ usd, every }] };
}

type FlaggedLimit = readonly [name: string, limit: Pick<(typeof KEY_LIMIT_LIST)[number][1], 'kind' | 'flag'>];

/** The limits that are given by flags: lists between commas, and numbers. */
export function limitsIn(
  options: CommandInput['options'],
  limits: readonly FlaggedLimit[] = KEY_LIMIT_LIST,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    limits.flatMap(([name, { kind, flag }]) => {
      const value = flag && options[optionOf(flag.flags)];
      return value === undefined || value === '' ? [] : [[name, limitIn(flag?.flags ?? '', kind, String(value))]];
    }),
  );
}

/** The name under which the value of a flag comes: `expiresIn` of `--expires-in <duration>`. */
function optionOf(flags: string): string {
  const [name = ''] = flags.slice(2).split(' ');
  return name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

function limitIn(flags: string, kind: FlaggedLimit[1]['kind'], text: string): readonly string[] | number | string {
  if (kind === 'text') return text;
  if (kind === 'texts') return text.split(',').map((entry) => entry.trim());
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw new UsageError(`${flags.split(' ')[0]} "${text}" is not a number`);
}

function momentIn(duration: string, now: number): string {
  const ms = parseDuration(duration) ?? Number.NaN;
  const at = new Date(now + ms);
  if (!(ms > 0) || Number.isNaN(at.getTime()))
    throw new UsageError(`--expires-in "${duration}" is not a duration above zero; write it as 720h or 30m`);
  if (at.getUTCFullYear() > LAST_YEAR)
    throw new UsageError(
      `--expires-in "${duration}" ends after the year ${LAST_YEAR}; leave it out for a key that does not expire`,
    );
  return at.toISOString();
}

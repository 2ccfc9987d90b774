import { type CommandInput, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { useOneOf } from '../../../host/common/nearest.ts';
import { parseDuration } from '../../../host/contract/duration.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { printData } from '../show.ts';

const SCOPES = ['read_only', 'admin'] as const;

/** The last year that a timestamp of RFC 3339 can name. */
const LAST_YEAR = 9999;

/** `gw admin keys create`: the answer shows the key, once. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const body = keyBody(input.options, place.clock.now());
  return printData(io, input.format, await new Client(input, place).object('POST', '/admin/keys', body));
};

/** Throws before anything is sent. A name that is missing is the gateway's to refuse. */
function keyBody({ name = '', scope = 'read_only', expiresIn = '' }: CommandInput['options'], now: number): object {
  if (!SCOPES.some((one) => one === scope))
    throw new UsageError(`"${String(scope)}" is not a scope; ${useOneOf(String(scope), SCOPES)}`);
  return { name, scopes: [scope], ...(expiresIn !== '' && { expires_at: momentIn(String(expiresIn), now) }) };
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

import { type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { parseDuration } from '../../../host/contract/duration.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, segment } from '../client.ts';
import { printData } from '../show.ts';

/** `gw admin keys rotate <id>`: the answer shows the new key, once. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const {
    args: [id = ''],
    format,
    options: { grace, endSessions },
  } = input;
  const body = {
    ...(grace !== undefined && { grace_seconds: secondsIn(String(grace)) }),
    ...(endSessions === true && { end_sessions: true }),
  };
  const path = `/admin/keys/${segment(id)}/rotate`;
  const client = new Client(input, place);
  const made = Object.keys(body).length === 0 ? client.object('POST', path) : client.object('POST', path, body);
  return printData(io, format, await made);
};

/** Throws before anything is sent. */
function secondsIn(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 0) throw new UsageError(`--grace "${text}" is not a duration; write it as 24h`);
  return Math.ceil(ms / 1000);
}

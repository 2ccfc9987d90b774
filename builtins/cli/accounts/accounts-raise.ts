import { type RunCommand, UsageError } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { printDone } from '../show.ts';
import { amountIn, pathIn, routeOf } from './account-call.ts';

/** `gw admin accounts raise <path>`: more room for a time. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const path = pathIn(input);
  const { until, from, every, note } = input.options;
  const given = amountIn(input.options);
  if (!given) throw new UsageError('say how much more: --usd, --tokens or --requests');
  if (until === undefined) throw new UsageError('say when it ends: --until 2026-12-31T12:00:00Z');
  const raise = await new Client(input, place).object('POST', `${routeOf(path)}/raises`, {
    ...given,
    until,
    ...(every !== undefined && { every }),
    ...(from !== undefined && { from }),
    ...(note !== undefined && { note }),
  });
  return printDone(io, input.format, 'Budget raised.', raise);
};

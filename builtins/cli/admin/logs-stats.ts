import type { RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { logCharts } from '../logs/log-charts.ts';
import { printData } from '../show.ts';

/** `gw admin logs stats`: as data, and on a terminal as charts. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const { terminal } = io;
  const statistics = await new Client(input, place).object('GET', '/admin/logs/stats');
  return printData(io, input.format, statistics, terminal && (() => logCharts(statistics, terminal)));
};

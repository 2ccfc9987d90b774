import { defineBuiltin } from '../../host/builtin.ts';
import type { Timer } from '../../host/common/clock.ts';
import type { CommandIo } from '../../host/cli/command-line.ts';
import type { Host } from '../../host/host.ts';
import { errorText } from '../../host/log/error-text.ts';
import { type RunningGateway, startGateway } from '../../host/start/start-gateway.ts';
import { banner } from './banner.ts';
import { refusalReport } from './report.ts';

/** `gw serve`, and `gw` alone. */
export default defineBuiltin({
  name: 'serve-command',
  apply: ({ hooks }) => hooks.command.tap('serve', (commandLine, host) => commandLine.add({
    name: 'serve',
    summary: 'Start the gateway: configuration from GATEWAY_CONFIG, port from PORT',
    run: (_input, io) => serve(host, io),
  })),
});

async function serve(host: Host, io: CommandIo): Promise<number> {
  const { services: { clock }, settings: { shutdownTimeoutMs } } = host;
  const stopped = Promise.withResolvers<void>();
  const hung = Promise.withResolvers<number>();
  let startLimit: Timer | undefined;
  let isStarted = false;
  io.onStop(() => {
    host.isDraining = true; // at once, also while the gateway is starting
    host.services.closing.endWithin(shutdownTimeoutMs);
    // A start that hangs, in a module for example, gets the time that requests get.
    if (!isStarted) startLimit = clock.timer(shutdownTimeoutMs, () => hung.resolve(0));
    stopped.resolve();
  });
  const gateway = await Promise.race([start(host, io), hung.promise]);
  isStarted = true;
  startLimit?.cancel();
  if (typeof gateway === 'number') return gateway;
  io.err(banner(host, gateway));
  await stopped.promise;
  await gateway.stop();
  return 0;
}

/** The exit code of a start that did not succeed: 0 when a signal ended it. */
async function start(host: Host, io: CommandIo): Promise<RunningGateway | number> {
  try {
    return (await startGateway(host)) ?? 0;
  } catch (error) {
    host.log.error('gw cannot start', { error });
    io.err(host.redactor.redact(refusalReport(error) ?? `Error: ${String(errorText(error, host.redactor))}\n`));
    return 1;
  }
}

import { defineBuiltin } from '../../host/builtin.ts';
import type { CommandIo } from '../../host/command-line.ts';
import type { Host } from '../../host/host.ts';
import { errorText } from '../../host/log/logger.ts';
import { type RunningGateway, startGateway } from '../../host/serve.ts';
import { banner } from './banner.ts';
import { refusalReport } from './report.ts';

/** `gw serve`, and `gw` alone. */
export default defineBuiltin({
  name: 'serve-command',
  apply: ({ hooks }) => hooks.command.tap('serve', (commandLine, host) => commandLine.add({
    name: 'serve',
    summary: 'Start the gateway: configuration from GATEWAY_CONFIG, port from PORT',
    run: async (_input, io) => {
      const gateway = await start(host, io);
      if (!gateway) return 1;
      io.err(banner(host, gateway));
      await new Promise<void>((resolve) => io.onStop(resolve));
      await gateway.stop();
      return 0;
    },
  })),
});

async function start(host: Host, io: CommandIo): Promise<RunningGateway | undefined> {
  try {
    return await startGateway(host);
  } catch (error) {
    host.log.error('gw cannot start', { error });
    io.err(host.redactor.redact(refusalReport(error) ?? `Error: ${String(errorText(error))}\n`));
    return undefined;
  }
}

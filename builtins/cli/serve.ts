import type { Timer } from '../../host/common/clock.ts';
import type { CommandIo, RunCommand } from '../../host/cli/command.ts';
import { visibleText } from '../../host/cli/visible-text.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import { errorText } from '../../host/log/error-text.ts';
import { type RunningGateway, startGateway } from '../../host/start/start-gateway.ts';
import { TOPIC } from '../../host/workers/team.ts';
import { banner } from './banner.ts';
import { refusalReport } from './report.ts';

/** `gw serve`, and `gw` alone. */
export const run: RunCommand<CommandPlace> = (_input, io, place) => serve(place, io);

async function serve(place: CommandPlace, io: CommandIo): Promise<number> {
  const stopped = Promise.withResolvers<void>();
  const hung = Promise.withResolvers<number>();
  let startLimit: Timer | undefined;
  let isStopped = false;
  let isStarted = false;
  let host: Host | undefined;
  const stop = (): void => {
    isStopped = true;
    if (!host) return;
    host.isLeaving = true;
    if (!isStarted) {
      const { services, settings } = host;
      host.isDraining = true;
      services.closing.endWithin(settings.shutdownTimeoutMs);
      // A start that hangs, in a module for example, gets the time that requests get.
      startLimit = place.clock.timer(settings.shutdownTimeoutMs, () => hung.resolve(0));
    }
    stopped.resolve();
  };
  if (place.team?.role === 'worker')
    return (await import('./workers/serve-worker.ts')).serveAsWorker(place, io, place.team);
  io.onStop(stop); // before anything is loaded
  io.onHangUp?.(() => {
    void host?.secrets.files.look();
    if (host?.team?.role === 'primary') host.team.tellAll(TOPIC.hangUp);
  });
  host = await place.host({ serves: true });
  if (isStopped) stop();
  const gateway = await Promise.race([start(host, io), hung.promise]);
  isStarted = true;
  startLimit?.cancel();
  if (typeof gateway === 'number') return gateway;
  io.onStarted?.();
  io.err(banner(host, gateway));
  const { team } = host;
  let code = 0;
  host.giveUp = () => {
    code = 1;
    stop();
  };
  if (team?.role === 'primary') io.onRoll?.(() => void team.roll());
  await stopped.promise;
  await gateway.stop();
  return code;
}

/** The exit code of a start that did not succeed: 0 when a signal ended it. */
async function start(host: Host, io: CommandIo): Promise<RunningGateway | number> {
  try {
    return (await startGateway(host)) ?? 0;
  } catch (error) {
    host.log.error('gw cannot start', { error });
    io.err(
      host.redactor.redact(refusalReport(error) ?? visibleText(`Error: ${String(errorText(error, host.redactor))}\n`)),
    );
    return 1;
  }
}

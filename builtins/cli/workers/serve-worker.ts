import type { CommandIo } from '../../../host/cli/command.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { refusalText, startWorker } from '../../../host/start/start-worker.ts';
import { TOPIC, type WorkerTeam } from '../../../host/workers/team.ts';
import { onPrimaryGone } from '../../../host/workers/life/worker-process.ts';

interface Drain {
  readonly isReplaced: boolean;
}

/** A process that serves for `gw serve`, until its primary says that it is to end, or is gone. */
export async function serveAsWorker(place: CommandPlace, io: CommandIo, team: WorkerTeam): Promise<number> {
  const ending = Promise.withResolvers<{ readonly code: number; readonly isReplaced: boolean }>();
  io.onStop(() => {}); // it is a service, and hears of its end by the primary alone
  team.channel.on(TOPIC.drain, (value) => ending.resolve({ code: 0, isReplaced: (value as Drain).isReplaced }));
  const gone = Promise.withResolvers<void>();
  let isEnding = false;
  onPrimaryGone(() => {
    team.channel.close(new Error('the primary has gone'));
    if (isEnding) gone.resolve(); // a second signal has ended it: nothing is finished any more
    else ending.resolve({ code: 1, isReplaced: true }); // its port is free again
  });
  const host = await place.host({ serves: true });
  let worker;
  try {
    worker = await startWorker(host, team);
  } catch (error) {
    host.log.error('a worker cannot start', { error });
    await team.channel.ask(TOPIC.refused, host.redactor.redact(refusalText(error))).catch(() => {});
    return 1;
  }
  io.onStarted?.();
  const { code, isReplaced } = await ending.promise;
  isEnding = true;
  await Promise.race([worker.stop(isReplaced), gone.promise]);
  if (code === 0) await team.channel.ask(TOPIC.end).catch(() => {}); // all that it has said has arrived by then
  return code;
}
